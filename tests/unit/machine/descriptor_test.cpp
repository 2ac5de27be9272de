// SPDX-License-Identifier: Apache-2.0
#include "machine/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include "in_child.hpp"
#include "machine/event_set.hpp"
#include "machine/neighbourhood.hpp"
#include "machine/segment.hpp"
#include "machine/signals.hpp"
#include "machine/socket.hpp"

namespace shoal::machine {
namespace {

constexpr std::array k_standard = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

bool is_null(int number) {
  struct stat here {
  }, null{};
  return ::fstat(number, &here) == 0 && ::stat("/dev/null", &null) == 0 && here.st_rdev == null.st_rdev;
}

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

// Each of the sets of closed descriptors, as bits.
class closed_standard_descriptors : public testing::TestWithParam<unsigned> {
protected:
  static bool closed(int number) { return (GetParam() >> number & 1U) != 0; }
  static void close_them() {
    for (const int number : k_standard)
      if (closed(number)) ::close(number);
  }
};
INSTANTIATE_TEST_SUITE_P(sets, closed_standard_descriptors, testing::Range(1U, 8U));

TEST_P(closed_standard_descriptors, are_opened_and_no_other) {
  const int status = in_child([] {
    const int file = ::open("/dev/zero", O_RDWR);
    for (const int number : k_standard) ::dup2(file, number);
    close_them();
    open_standard_descriptors();
    return std::ranges::all_of(k_standard, [](int n) { return is_open(n) && is_null(n) == closed(n); }) ? 0 : 1;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST_P(closed_standard_descriptors, are_no_numbers_of_ours) {
  const int status = in_child([] {
    close_them();
    const segment memory = segment::create("shoal-test", k_huge_page_bytes);
    const segment inherited = segment::create("shoal-test", k_huge_page_bytes, true);
    std::string why;
    const auto mapped = segment_of(own_pid(), memory.descriptor(), why);
    const wake_descriptor bell;
    const interruption stop;
    event_set set;
    auto [one, other] = socket::pair();
    const socket listening = socket::listen("127.0.0.1", 0);
    const descriptor self(open_process(own_pid()));
    const std::vector<int> ours{memory.descriptor(), inherited.descriptor(), mapped ? mapped->descriptor() : -1,
                                bell.descriptor(),   stop.descriptor(),      one.descriptor(),
                                other.descriptor(),  listening.descriptor(), self.number()};
    if ((::fcntl(inherited.descriptor(), F_GETFD) & FD_CLOEXEC) != 0) return 2;
    if ((::fcntl(memory.descriptor(), F_GETFD) & FD_CLOEXEC) == 0) return 3;
    if (std::ranges::any_of(k_standard, [](int n) { return closed(n) && is_open(n); })) return 4;
    return std::ranges::all_of(ours, [](int n) { return n > STDERR_FILENO; }) ? 0 : 1;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST_P(closed_standard_descriptors, do_not_confuse_the_start_of_a_child) {
  const int status = in_child([] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 3;
    for (int& end : ends) end = above_standard(end);
    close_them();
    child_process child = spawn({{"sh", "-c", "echo said; exit 5"}, {}, {}, ends[1], -1});
    std::array<char, 8> text{};
    if (::read(ends[0], text.data(), text.size()) != 5) return 2;
    return child.reap().code == 5 ? 0 : 1;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(descriptors, above_the_standard_ones_stay) {
  EXPECT_EQ(above_standard(-1), -1);
  const descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_GT(file.number(), STDERR_FILENO);
  EXPECT_EQ(above_standard(file.number()), file.number());
}

}  // namespace
}  // namespace shoal::machine
