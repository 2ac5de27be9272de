// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_info.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <shoal/error.hpp>

#include "in_child.hpp"

namespace shoal::machine {
namespace {

std::string refusal(std::uint64_t bytes, const memory_status& status) {
  try {
    require_memory(bytes, "array 'table'", status);
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::out_of_memory);
    return refused.what();
  }
  return "";
}

TEST(memory_info, the_machine_has_memory) {
  const memory_status status = memory_info();
  EXPECT_GT(status.total_bytes, 0U);
  EXPECT_GT(status.available_bytes, 0U);
  EXPECT_LE(status.available_bytes, status.total_bytes);
  EXPECT_GT(status.usable_bytes(), 0U);
  EXPECT_LT(status.usable_bytes(), status.total_bytes);
}

TEST(memory_info, a_refusal_names_what_was_asked_and_what_machine_and_group_have) {
  memory_status status;
  status.total_bytes = std::uint64_t{16} << 30;
  status.available_bytes = std::uint64_t{12} << 30;
  status.group.limit_bytes = std::uint64_t{4} << 30;
  status.group.current_bytes = std::uint64_t{1} << 30;
  status.group.path = "/sys/fs/cgroup/job";
  EXPECT_EQ(refusal(std::uint64_t{2} << 30, status), "");
  const std::string text = refusal(std::uint64_t{6} << 30, status);
  for (const char* part :
       {"array 'table'", "6.0 GiB", "12.0 GiB", "16.0 GiB", "3.0 GiB", "4.0 GiB", "/sys/fs/cgroup/job"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

TEST(memory_info, without_a_group_limit_the_machine_decides_and_a_margin_stays) {
  memory_status status;
  status.total_bytes = std::uint64_t{16} << 30;
  status.available_bytes = std::uint64_t{12} << 30;
  EXPECT_EQ(status.usable_bytes(), (std::uint64_t{12} << 30) - (std::uint64_t{192} << 20));
  const std::string text = refusal(status.available_bytes, status);
  EXPECT_NE(text.find("the control group sets no limit"), std::string::npos) << text;
}

TEST(memory_info, more_than_this_machine_has_is_refused) {
  EXPECT_THROW(require_memory(memory_info().total_bytes, "everything"), error);
  EXPECT_NO_THROW(require_memory(4096, "a page"));
}

TEST(memory_info, sizes_are_readable) {
  EXPECT_EQ(describe_bytes(0), "0 B");
  EXPECT_EQ(describe_bytes(1023), "1023 B");
  EXPECT_EQ(describe_bytes(1536), "1.5 KiB");
  EXPECT_EQ(describe_bytes(std::uint64_t{24} << 30), "24.0 GiB");
  EXPECT_EQ(describe_bytes(k_no_limit), "16.0 EiB");
}

TEST(memory_info, the_limit_of_address_space_is_the_shells) {
  const int status = in_child([] {
    const rlimit limit{std::size_t{1} << 44, std::size_t{1} << 44};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    return address_space_limit() == std::uint64_t{1} << 44 ? 0 : 2;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(memory_info, limits_are_named) {
  const std::string text = describe_address_space_limits();
  EXPECT_NE(text.find("ulimit -v"), std::string::npos) << text;
  EXPECT_NE(text.find("vm.overcommit_memory"), std::string::npos) << text;
}

}  // namespace
}  // namespace shoal::machine
