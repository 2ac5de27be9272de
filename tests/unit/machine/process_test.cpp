// SPDX-License-Identifier: Apache-2.0
#include "machine/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <shoal/error.hpp>
#include <string>

#include "base/clock.hpp"
#include "in_child.hpp"

namespace shoal::machine {
namespace {

spawn_request shell(const std::string& script) { return {{"sh", "-c", script}, {}, {}, -1, -1}; }

// What a shell script prints when it is started with these additions.
std::string output_of(spawn_request request) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  request.standard_output = ends[1];
  child_process child = spawn(request);
  ::close(ends[1]);
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  EXPECT_TRUE(child.reap().clean());
  return text;
}

error refusal(const spawn_request& request) {
  try {
    spawn(request);
  } catch (const error& refused) {
    return refused;
  }
  return {errc::internal, "it was started"};
}

TEST(process, an_end_is_described) {
  EXPECT_EQ(describe({0, 9}), "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(describe({3, 0}), "exited with status 3");
  EXPECT_EQ(describe({0, 0}), "ended normally");
  EXPECT_EQ((exit_status{0, 9}).shell_code(), 137);
  EXPECT_EQ((exit_status{3, 0}).shell_code(), 3);
}

TEST(process, a_child_tells_its_status) {
  child_process child = spawn(shell("exit 7"));
  EXPECT_GT(child.pid(), 0);
  EXPECT_EQ(describe(child.reap()), "exited with status 7");
  EXPECT_FALSE(child.running());
}

TEST(process, a_child_tells_its_status_where_its_signal_was_ignored) {
  for (const bool no_wait : {false, true}) {
    const int status = in_child([no_wait] {
      struct sigaction ignoring {};
      ignoring.sa_handler = no_wait ? SIG_DFL : SIG_IGN;
      ignoring.sa_flags = no_wait ? SA_NOCLDWAIT : 0;
      if (::sigaction(SIGCHLD, &ignoring, nullptr) != 0) return 1;
      return spawn(shell("exit 7")).reap().code;
    });
    EXPECT_TRUE(exited_with(status, 7)) << status;
  }
}

TEST(process, a_killed_child_tells_the_signal) {
  child_process child = spawn({{"sleep", "1000"}, {}, {}, -1, -1});
  EXPECT_TRUE(child.kill(SIGTERM));
  EXPECT_EQ(describe(child.reap()), "killed by signal 15 (SIGTERM)");
  EXPECT_FALSE(child.kill(SIGTERM));
}

TEST(process, the_environment_is_added_to_and_replaced) {
  ::setenv("SHOAL_TEST_KEPT", "kept", 1);
  ::setenv("SHOAL_TEST_REPLACED", "old", 1);
  spawn_request request = shell("printf '%s %s %s' $SHOAL_TEST_KEPT $SHOAL_TEST_REPLACED $SHOAL_TEST_ADDED");
  request.environment = {"SHOAL_TEST_REPLACED=new", "SHOAL_TEST_ADDED=added"};
  EXPECT_EQ(output_of(request), "kept new added");
}

TEST(process, descriptors_are_inherited_only_when_listed) {
  const int listed = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  spawn_request request = shell("for fd in " + std::to_string(listed) + " " + std::to_string(other) +
                                "; do if [ -e /proc/self/fd/$fd ]; then printf yes; else printf no; fi; done");
  request.inherited = {listed};
  EXPECT_EQ(output_of(request), "yesno");
  ::close(listed);
  ::close(other);
}

TEST(process, no_signal_is_blocked_in_the_child) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::string text = output_of({{"grep", "SigBlk", "/proc/self/status"}, {}, {}, -1, -1});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(text, "SigBlk:\t0000000000000000\n");
}

TEST(process, what_cannot_start_is_an_error_with_a_name) {
  const error missing = refusal({{"no-such-program-here"}, {}, {}, -1, -1});
  EXPECT_EQ(missing.code(), errc::not_found);
  EXPECT_NE(std::string(missing.what()).find("no-such-program-here"), std::string::npos) << missing.what();
  EXPECT_EQ(refusal({{"/etc/passwd"}, {}, {}, -1, -1}).code(), errc::system);
  EXPECT_EQ(refusal({{}, {}, {}, -1, -1}).code(), errc::invalid_argument);
  spawn_request closed = shell("true");
  closed.inherited = {1023};
  EXPECT_EQ(refusal(closed).code(), errc::system);
}

TEST(process, wait_any_names_the_child_that_ended) {
  child_process slow = spawn({{"sleep", "1000"}, {}, {}, -1, -1});
  child_process quick = spawn(shell("exit 1"));
  const std::array<int, 3> descriptors{slow.descriptor(), -1, quick.descriptor()};
  EXPECT_EQ(wait_any(descriptors, 10'000'000'000), 2);
  quick.reap();
  const std::array<int, 1> left{slow.descriptor()};
  const auto start_ns = base::now_ns();
  EXPECT_EQ(wait_any(left, 20'000'000), -1);
  EXPECT_GE(base::now_ns() - start_ns, 20'000'000U);
}

TEST(process, a_forgotten_child_is_killed) {
  int watch = -1;
  {
    const child_process child = spawn({{"sleep", "1000"}, {}, {}, -1, -1});
    watch = open_process(child.pid());
    ASSERT_GE(watch, 0);
  }
  const std::array<int, 1> descriptors{watch};
  EXPECT_EQ(wait_any(descriptors, 10'000'000'000), 0);
  close_descriptor(watch);
}

TEST(process, a_child_dies_with_its_parent) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int status = in_child([&ends] {
    child_process grandchild = spawn({{"sleep", "1000"}, {}, {}, -1, -1});
    const int pid = grandchild.pid();
    if (::write(ends[1], &pid, sizeof pid) != static_cast<ssize_t>(sizeof pid)) return 1;
    ::_exit(0);  // without a destructor: as if killed
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
  int pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const int watch = open_process(pid);
  if (watch >= 0) {
    const std::array<int, 1> descriptors{watch};
    EXPECT_EQ(wait_any(descriptors, 10'000'000'000), 0);
    close_descriptor(watch);
  } else {
    EXPECT_EQ(errno, ESRCH);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(process, this_process_knows_itself) {
  EXPECT_EQ(own_pid(), ::getpid());
  EXPECT_TRUE(std::filesystem::equivalent(own_executable(), "/proc/self/exe"));
}

}  // namespace
}  // namespace shoal::machine
