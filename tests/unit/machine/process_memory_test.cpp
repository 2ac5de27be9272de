// SPDX-License-Identifier: Apache-2.0
#include "machine/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace shoal::machine {
namespace {

TEST(process_memory, reads_what_another_process_has) {
  std::vector<std::byte> data(100'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> into(data.size());
  permit_memory_reads();
  const pid_t parent = getpid();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // its own copy is changed: only the parent's memory has the bytes
    const auto address = reinterpret_cast<std::uint64_t>(data.data());
    std::vector<std::byte> expected = data;
    std::ranges::fill(data, std::byte{});
    const bool read = read_process_memory(parent, address, into);
    const bool refused = !read_process_memory(parent, 8, std::span(into).first(8));
    _exit(read && into == expected && refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace shoal::machine
