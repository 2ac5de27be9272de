// SPDX-License-Identifier: Apache-2.0
// The end of a wait: a moment of the clock by which the calling worker's tasks wait (a virtual one on a simulated
// machine). From a duration it is counted from now on; from a moment of another clock it is as far away as that is now,
// so that later changes of that clock change nothing.
// Who may call: tasks. Does not switch. Tests: tests/unit/sched/sleep_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace shoal::detail {

/// The clock of the calling worker's executor. Fails with a message outside of tasks.
std::uint64_t clock_ns() noexcept;

class time_limit {
public:
  static constexpr std::uint64_t k_never = std::numeric_limits<std::uint64_t>::max();
  static time_limit never() noexcept { return time_limit(k_never); }
  /// A moment of clock_ns().
  static time_limit at(std::uint64_t due_ns) noexcept { return time_limit(due_ns); }

  /// 0: it has passed already.
  std::uint64_t due_ns() const noexcept { return due_ns_; }
  bool is_past() const noexcept { return due_ns_ == 0 || (due_ns_ != k_never && due_ns_ <= clock_ns()); }

protected:
  explicit time_limit(std::uint64_t due_ns) noexcept : due_ns_(due_ns) {}

  static constexpr double k_longest_s = 1e9;
  template <class Rep, class Period>
  static double seconds_of(const std::chrono::duration<Rep, Period>& span) noexcept {
    return std::chrono::duration_cast<std::chrono::duration<double>>(span).count();
  }
  template <class Rep, class Period>
  static std::uint64_t due_after(const std::chrono::duration<Rep, Period>& span) noexcept {
    const double seconds = seconds_of(span);
    if (!(seconds > 0)) return 0;
    if (seconds > k_longest_s) return k_never;
    return clock_ns() + static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(span).count());
  }

private:
  std::uint64_t due_ns_;
};

/// What the functions named _for take: any std::chrono::duration.
struct limit_after : time_limit {
  template <class Rep, class Period>
  limit_after(const std::chrono::duration<Rep, Period>& span) noexcept  // NOLINT: implicit
      : time_limit(due_after(span)) {}
};
/// What the functions named _until take: a moment of any clock.
struct limit_at : time_limit {
  template <class Clock, class Duration>
  limit_at(const std::chrono::time_point<Clock, Duration>& moment) noexcept  // NOLINT: implicit
      : time_limit(due_at(moment)) {}

private:
  // The difference of moments far from each other, as the ends of a clock are, is no number of its ticks.
  template <class Clock, class Duration>
  static std::uint64_t due_at(const std::chrono::time_point<Clock, Duration>& moment) noexcept {
    const auto now = Clock::now();
    const double away_s = seconds_of(moment.time_since_epoch()) - seconds_of(now.time_since_epoch());
    if (away_s < -1) return 0;
    return away_s > k_longest_s ? k_never : due_after(moment - now);
  }
};

}  // namespace shoal::detail
