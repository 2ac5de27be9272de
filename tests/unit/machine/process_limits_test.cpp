// SPDX-License-Identifier: Apache-2.0
#include "machine/process_limits.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <system_error>
#include <thread>

#include "in_child.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(process_limits, the_one_that_is_reached_is_named_alone) {
  process_limits l;
  l.user_limit = 100;
  l.user_current = 40;
  l.group = {.limit = 50, .current = 50, .path = "/sys/fs/cgroup/job"};
  const std::string group = describe_process_limits(l);
  EXPECT_TRUE(says(group, "allows 50 processes and threads (pids.max in /sys/fs/cgroup/job), and has 50; raise"))
      << group;
  EXPECT_FALSE(says(group, "ulimit")) << group;
  l.group.current = 49;
  l.user_current = 100;
  const std::string user = describe_process_limits(l);
  EXPECT_TRUE(says(user, "this user may have 100 processes and threads (ulimit -u), and has 100; raise")) << user;
  EXPECT_FALSE(says(user, "pids.max")) << user;
  l.user_current = 99;
  l.address_space_bytes = 100 << 20;
  l.address_space_used_bytes = 93 << 20;
  l.stack_bytes = 8 << 20;
  const std::string space = describe_process_limits(l);
  EXPECT_TRUE(says(space, "limited to 100.0 MiB (ulimit -v), 93.0 MiB are in use")) << space;
  EXPECT_TRUE(says(space, "ulimit -s")) << space;
  EXPECT_FALSE(says(space, "pids.max")) << space;
}

TEST(process_limits, a_machine_that_promises_no_more_than_it_has) {
  process_limits l;
  l.commit_bytes = 1000 << 20;
  l.commit_used_bytes = 995 << 20;
  l.stack_bytes = 8 << 20;
  const std::string text = describe_process_limits(l);
  EXPECT_TRUE(says(text, "no more than 1000.0 MiB of memory (vm.overcommit_memory 2), it has promised 995.0 MiB"))
      << text;
  EXPECT_TRUE(says(text, "vm.overcommit_ratio")) << text;
  l.commit_used_bytes = 0;
  EXPECT_TRUE(says(describe_process_limits(l), "vm.overcommit_memory 2")) << "one of the limits in force";
}

TEST(process_limits, all_are_named_if_none_is_reached) {
  process_limits l;
  EXPECT_TRUE(says(describe_process_limits(l), "no limit can be seen"));
  l.user_limit = 100;
  l.group = {.limit = 50, .current = 7, .path = "/sys/fs/cgroup/job"};
  const std::string text = describe_process_limits(l);
  EXPECT_TRUE(says(text, "allows 50") && says(text, "may have 100") && says(text, "raise the limit")) << text;
  EXPECT_FALSE(says(text, "address space")) << text;
}

// The message of a thread that this limit really refuses.
template <class Limit>
int refused_thread(Limit&& limit, const char* part) {
  return in_child([&] {
    limit();
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    try {
      for (int i = 0; i < 1000; ++i)
        threads.emplace_back([&over] {
          while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    } catch (const std::system_error&) {
      const std::string text = describe_process_limits();
      if (!says(text, part)) std::fprintf(stderr, "%s\n", text.c_str());
      ::_exit(says(text, part) ? 0 : 1);
    }
    ::_exit(2);
    return 2;
  });
}

TEST(process_limits, a_small_address_space_is_found) {
#if defined(SHOAL_TSAN) || defined(SHOAL_ASAN)
  GTEST_SKIP() << "not under a sanitizer that needs the address space itself";
#endif
  const auto limit = [] {
    const rlimit small{std::uint64_t{1} << 29, std::uint64_t{1} << 29};
    ::setrlimit(RLIMIT_AS, &small);
  };
  EXPECT_TRUE(exited_with(refused_thread(limit, "(ulimit -v), "), 0));
}

TEST(process_limits, a_small_number_of_processes_is_found) {
  const auto limit = [] {
    const rlimit small{20, 20};
    ::setrlimit(RLIMIT_NPROC, &small);
    if (::getuid() != 0) return;
    constexpr uid_t k_nobody_s = 64321;  // root has no such limit
    if (::setgroups(0, nullptr) != 0 || ::setgid(k_nobody_s) != 0 || ::setuid(k_nobody_s) != 0) ::_exit(3);
  };
  const int status = refused_thread(limit, "this user may have 20 processes and threads (ulimit -u), and has ");
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(process_limits, a_process_that_is_refused_says_the_limit) {
  const int status = in_child([] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    constexpr uid_t k_nobody_s = 64322;
    if (::getuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(k_nobody_s) != 0 || ::setuid(k_nobody_s) != 0))
      return 3;
    try {
      spawn({{"true"}, {}, {}, -1, -1});
    } catch (const error& e) {
      return says(e.what(), "this user may have 0 processes and threads (ulimit -u)") ? 0 : 1;
    }
    return 2;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(process_limits, of_descriptors_is_raised_as_far_as_it_may_and_never_lowered) {
  const int status = in_child([] {
    const rlimit low{64, 512};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 3;
    if (allow_descriptors(32) != 64) return 4;
    if (allow_descriptors(200) != 200) return 5;
    if (allow_descriptors(100000) != 512) return 6;
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur == 512 && now.rlim_max == 512 ? 0 : 7;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

}  // namespace
}  // namespace shoal::machine
