// SPDX-License-Identifier: Apache-2.0
#include "machine/signal_request.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shoal::machine
