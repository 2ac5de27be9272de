// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace shoal;
using base::log_level;

class log_test : public testing::Test {
protected:
  void TearDown() override { base::set_log_context({}); }

  template <class F>
  static std::string told_by(F f) {
    testing::internal::CaptureStderr();
    f();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(log_test, prefix_kind_and_line_end) {
  EXPECT_EQ(told_by([] { base::say("{} nodes", 4); }), "shoal: 4 nodes\n");
  EXPECT_EQ(told_by([] { base::warn("no {}", "huge pages"); }), "shoal: warning: no huge pages\n");
  base::set_log_context({log_level::say, 3});
  EXPECT_EQ(told_by([] { base::say("here"); }), "shoal[3]: here\n");
}

TEST_F(log_test, levels) {
  const auto all = [] {
    base::verbose("v");
    base::say("s");
    base::warn("w");
  };
  const auto told_at = [&](std::string_view level) {
    base::set_log_context({base::log_level_of(level), -1});
    return told_by(all);
  };
  EXPECT_EQ(told_at("quiet"), "");
  EXPECT_EQ(told_at("warn"), "shoal: warning: w\n");
  EXPECT_EQ(told_at("say"), "shoal: s\nshoal: warning: w\n");
  EXPECT_EQ(told_at("verbose"), "shoal: v\nshoal: s\nshoal: warning: w\n");
}

TEST_F(log_test, the_context_is_the_threads) {
  base::set_log_context({log_level::quiet, 1});
  std::thread([] {
    EXPECT_EQ(base::current_log_context().node, -1);
    EXPECT_EQ(base::current_log_context().level, log_level::say);
  }).join();
}

TEST_F(log_test, errno_survives) {
  told_by([] {
    errno = ENOENT;
    base::say("text {}", std::string(2000, 'x'));
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(log_test, a_long_line_is_whole) {
  const std::string text(100'000, 'y');
  EXPECT_EQ(told_by([&] { base::say("{}", text); }), "shoal: " + text + "\n");
}

// A pipe keeps writes of up to 4096 bytes together: lines of several threads must come out unmixed.
TEST_F(log_test, one_write_per_line) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  std::string read_back;
  std::thread reader([&] {
    std::array<char, 4096> block;
    for (ssize_t n; (n = read(ends[0], block.data(), block.size())) > 0;)
      read_back.append(block.data(), static_cast<std::size_t>(n));
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([t] {
      for (int i = 0; i < 250; ++i) base::say("{} of thread {} {}", i, t, std::string(200, static_cast<char>('a' + t)));
    });
  }
  for (auto& w : writers) w.join();
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  reader.join();
  close(ends[0]);

  std::istringstream lines(read_back);
  std::array<int, 4> next{};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    bool expected = false;
    for (std::size_t t = 0; t < 4 && !expected; ++t) {
      expected =
          line == fmt::format("shoal: {} of thread {} {}", next[t], t, std::string(200, static_cast<char>('a' + t)));
      if (expected) ++next[t];
    }
    ASSERT_TRUE(expected) << line;
  }
  EXPECT_EQ(count, 1000);
}

}  // namespace
