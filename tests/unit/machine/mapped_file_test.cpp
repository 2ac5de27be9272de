// SPDX-License-Identifier: Apache-2.0
#include "machine/mapped_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

TEST(mapped_file, what_is_written_is_in_the_file) {
  const std::string path = testing::TempDir() + "mapped_file_test";
  {
    const mapped_file f = mapped_file::make(path, 10'000);
    ASSERT_EQ(f.bytes().size(), 10'000U);
    EXPECT_EQ(f.bytes()[9'999], std::byte{0});
    f.bytes()[5'000] = std::byte{'x'};
    const mapped_file again = mapped_file::read(path);  // while it is mapped
    EXPECT_EQ(again.bytes()[5'000], std::byte{'x'});
  }
  EXPECT_EQ(std::filesystem::file_size(path), 10'000U);
  mapped_file moved = mapped_file::read(path);
  const mapped_file target = std::move(moved);
  EXPECT_EQ(target.bytes()[5'000], std::byte{'x'});
  std::ofstream(path, std::ios::trunc);
  EXPECT_TRUE(mapped_file::read(path).bytes().empty());
  std::filesystem::remove(path);
  EXPECT_THROW(mapped_file::read(path), error);
  EXPECT_THROW(mapped_file::make("/no/such/folder/file", 10), error);
}

}  // namespace
}  // namespace shoal::machine
