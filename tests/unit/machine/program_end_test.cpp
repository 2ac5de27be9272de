// SPDX-License-Identifier: Apache-2.0
#include "machine/program_end.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "base/clock.hpp"
#include "unit/machine/in_child.hpp"

namespace shoal::machine {
namespace {

child_process run_in_shell(const std::string& line) {
  spawn_request request;
  request.arguments = {"sh", "-c", line};
  return spawn(request);
}

TEST(program_end, is_waited_for_as_long_as_was_said) {
  child_process program = run_in_shell("exec sleep 1000");
  program_end end(program, nullptr);
  const std::uint64_t begin = base::now_ns();
  EXPECT_FALSE(end.wait(0));
  EXPECT_FALSE(end.wait(30'000'000));
  EXPECT_GE(base::now_ns() - begin, 30'000'000U);
  program.kill(SIGTERM);
  EXPECT_TRUE(end.wait(-1));
  EXPECT_TRUE(end.wait(-1));  // it stays so
}

// In a child: the signal's action is that of a whole process, and may have been ignored there before.
TEST(program_end, a_signal_to_the_command_alone_is_passed_on) {
  const int status = in_child([] {
    ::signal(SIGINT, SIG_DFL);
    const interruption stop;
    child_process program = run_in_shell("exec sleep 1000");
    program_end end(program, &stop);
    ::raise(SIGINT);
    const std::uint64_t begin = base::now_ns();
    if (end.wait(program_end::k_pass_on_ns / 4)) return 1;  // it may end by itself
    if (!end.wait(-1)) return 2;
    if (base::now_ns() - begin < static_cast<std::uint64_t>(program_end::k_pass_on_ns)) return 3;
    return program.reap().signal == SIGINT ? 0 : 4;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(program_end, a_program_that_ends_by_itself_is_left_alone) {
  const int status = in_child([] {
    ::signal(SIGINT, SIG_DFL);
    const interruption stop;
    child_process program = run_in_shell("trap 'exit 7' INT; kill -INT $$; sleep 1000");
    program_end end(program, &stop);
    ::raise(SIGINT);
    if (!end.wait(-1)) return 1;
    return program.reap().code == 7 ? 0 : 2;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(program_end, is_said_in_a_sentence) {
  EXPECT_EQ(describe_program({0, SIGSEGV}), "the program was killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(describe_program({3, 0}), "the program exited with status 3");
  EXPECT_EQ(describe_program({0, 0}), "the program ended normally");
}

}  // namespace
}  // namespace shoal::machine
