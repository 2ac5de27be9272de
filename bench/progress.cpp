// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"

namespace shoal::bench {

namespace {
constexpr std::size_t k_bar_columns = 24;
constexpr std::uint64_t k_interval_ns = 100'000'000;
}  // namespace

progress::progress(std::size_t steps, bool on_terminal) : steps_(steps), on_terminal_(on_terminal) {}

progress::~progress() { clear(); }

bool progress::standard_error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string progress::line(std::size_t done, std::size_t steps, std::string_view what) {
  if (steps == 0) return std::string(what);
  done = std::min(done, steps);
  std::size_t filled = done * k_bar_columns / steps;
  return fmt::format("[{:#<{}}{:.<{}}] {:3}%  {}", "", filled, "", k_bar_columns - filled, done * 100 / steps, what);
}

void progress::show(std::size_t done, std::string_view what) {
  if (!on_terminal_) return;
  std::uint64_t now = base::now_ns();
  if (shown_ && now - last_ns_ < k_interval_ns) return;
  last_ns_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\033[K{}", line(done, steps_, what));
  std::fflush(stderr);
}

void progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace shoal::bench
