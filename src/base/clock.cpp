// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <time.h>

#include <atomic>

namespace shoal::base {

namespace {

std::uint64_t read_ns(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// Partners: set_clock() and whoever asks for the time; what the clock needs is there before.
constinit std::atomic<clock_function> g_clock{nullptr};

}  // namespace

std::uint64_t now_ns() noexcept {
  const clock_function other = g_clock.load(std::memory_order_acquire);
  return other == nullptr ? read_ns(CLOCK_MONOTONIC) : other();
}
std::uint64_t machine_now_ns() noexcept { return read_ns(CLOCK_MONOTONIC); }
clock_function set_clock(clock_function clock) noexcept { return g_clock.exchange(clock, std::memory_order_acq_rel); }
std::uint64_t thread_processor_ns() noexcept { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

namespace {

#if defined(__aarch64__)

double measure() noexcept {
  std::uint64_t hertz;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
  return static_cast<double>(hertz) / 1e6;
}

#else

struct moment {
  std::uint64_t ns;
  std::uint64_t ticks;
};

// Reads both clocks with minimal delay between them: the fastest of several attempts counts, so that preemption between
// the two readings does not spoil the calibration.
moment read_both() noexcept {
  moment best{};
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t ns = machine_now_ns();
    const std::uint64_t after = ticks();
    if (after - before < best_width) {
      best_width = after - before;
      best = {ns, before + (after - before) / 2};
    }
  }
  return best;
}

double measure() noexcept {
  const moment start = read_both();
  const timespec pause{0, 2'000'000};
  nanosleep(&pause, nullptr);
  const moment end = read_both();
  return static_cast<double>(end.ticks - start.ticks) * 1000.0 / static_cast<double>(end.ns - start.ns);
}

#endif

}  // namespace

double ticks_per_us() noexcept {
  static const double rate = measure();
  return rate;
}

}  // namespace shoal::base
