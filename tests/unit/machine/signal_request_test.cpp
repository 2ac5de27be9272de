// SPDX-License-Identifier: Apache-2.0
#include "machine/signal_request.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "machine/process.hpp"

namespace shoal::machine {
namespace {

int g_own = 0;

TEST(signal_request, is_readable_once_per_signal_and_gives_the_action_back) {
  {
    signal_request request;
    EXPECT_FALSE(request.take());
    ::raise(SIGUSR1);
    const std::array<int, 1> descriptors{request.descriptor()};
    EXPECT_EQ(wait_any(descriptors, 5'000'000'000), 0);
    EXPECT_TRUE(request.take());
    EXPECT_FALSE(request.take());
  }
  struct sigaction now {};
  ::sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(signal_request, leaves_a_program_s_own_handler) {
  ::signal(SIGUSR1, [](int) { ++g_own; });
  {
    signal_request request;
    ::raise(SIGUSR1);
    EXPECT_FALSE(request.take());
  }
  ::raise(SIGUSR1);
  EXPECT_EQ(g_own, 2);
  ::signal(SIGUSR1, SIG_DFL);
}

// A handler that has begun may write to it when the object is gone: it must be no other file's by then.
TEST(signal_request, keeps_its_descriptor_for_ever) {
  int descriptor = -1;
  {
    const signal_request request;
    descriptor = request.descriptor();
  }
  EXPECT_NE(::fcntl(descriptor, F_GETFD), -1);
  signal_request again;
  EXPECT_EQ(again.descriptor(), descriptor);
  EXPECT_FALSE(again.take());
}

TEST(signal_request, is_sent_only_to_a_process_that_has_a_handler) {
  EXPECT_FALSE(signal_request::send_to(own_pid()));
  EXPECT_FALSE(signal_request::send_to(0));
  signal_request request;
  EXPECT_TRUE(signal_request::send_to(own_pid()));
  const std::array<int, 1> descriptors{request.descriptor()};
  EXPECT_EQ(wait_any(descriptors, 5'000'000'000), 0);
  EXPECT_TRUE(request.take());
}

TEST(signal_request, of_a_child_made_by_fork_is_its_own) {
  signal_request request;
  const auto end_of = [](auto&& body) {
    const int child = ::fork();
    if (child == 0) body();
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  };
  const int of_own = end_of([] {
    signal_request own;
    ::raise(SIGUSR1);
    ::_exit(own.take() ? 0 : 1);
  });
  EXPECT_TRUE(WIFEXITED(of_own) && WEXITSTATUS(of_own) == 0) << of_own;
  const int of_none = end_of([] {
    ::raise(SIGUSR1);
    ::_exit(0);
  });
  EXPECT_TRUE(WIFSIGNALED(of_none) && WTERMSIG(of_none) == SIGUSR1) << of_none;
  EXPECT_FALSE(request.take());
  ::raise(SIGUSR1);
  EXPECT_TRUE(request.take());
}

}  // namespace
}  // namespace shoal::machine
