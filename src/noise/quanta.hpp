// SPDX-License-Identifier: Apache-2.0
// Noise as a program feels it. Fixed time quantum (FTQ): how many basic operations a thread does in each quantum; what
// is missing to the most it can do was taken from it. Fixed work quantum (FWQ): how long the same work takes, again and
// again. A basic operation is a look at the processor's clock and a comparison, so each loss of time is also noted as
// a detour: when it began and ended.
// Who may call: the thread to be measured, pinned by the call for as long as it takes. Never switches tasks. Memory is
// there before the first quantum. Overhead: a store per quantum. After Sottile and Minnich (FTQ) and Beckman et al.
// (detours). Test: tests/unit/noise/quanta_test.cpp.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <vector>

namespace shoal::noise {

/// The processor's clock and the kernel's (CLOCK_MONOTONIC_RAW) at the same moment.
struct clock_pair {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;

  static clock_pair now() noexcept;
};

/// Turns ticks into nanoseconds of the kernel's clock, by two moments some time apart.
class clock_line {
public:
  clock_line() = default;
  clock_line(const clock_pair& early, const clock_pair& late) noexcept;
  std::uint64_t ns(std::uint64_t ticks) const noexcept;
  double ns_per_tick() const noexcept { return slope_; }

private:
  clock_pair from_;
  double slope_ = 1;
};

struct detour {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

struct quanta_request {
  unsigned processor = 0;
  std::uint64_t quantum_ns = 1'000'000;
  std::uint32_t quanta = 1000;
  std::uint64_t detour_ns = 500;  // shorter ones are not noted
  std::uint32_t most_detours = 1U << 20;
  std::barrier<>* start = nullptr;          // all threads begin together when they have their memory
  const std::atomic<bool>* stop = nullptr;  // true: the quantum that runs is the last. Partner: who sets it
};

struct quanta_result {
  unsigned processor = 0;
  std::int32_t thread = 0;                      // the kernel's number
  std::uint64_t begin_ns = 0;                   // of the kernel's clock
  std::uint64_t quantum_ns = 0;                 // FTQ: of each; FWQ: of the fastest
  double operation_ns = 0;                      // the least that a basic operation takes
  std::vector<double> noise_ns;                 // of each quantum
  std::vector<std::uint64_t> quantum_begin_ns;  // one more than quanta
  std::vector<detour> detours;
  std::uint64_t detours_left_out = 0;  // there was no room

  std::uint64_t measured_ns() const noexcept { return quantum_begin_ns.back() - quantum_begin_ns.front(); }
};

/// What the looks at the clock mean: `looks[q]` in each quantum of FTQ, `work` in each of FWQ. Sets operation_ns and
/// noise_ns (FWQ: quantum_ns too) from the begins of the quanta and the detours, and cuts detours at the last quantum's
/// end. The measure is the fastest quantum without its detours, so that what detours took is always lost, also when no
/// quantum was undisturbed.
void judge_looks(quanta_result& r, const std::vector<std::uint64_t>& looks);
void judge_times(quanta_result& r, std::uint64_t work);

/// Throws errc::system if the thread cannot be pinned to the processor.
quanta_result measure_fixed_time(const quanta_request& r);
/// As much work in each quantum as fits into `quantum_ns` without noise.
quanta_result measure_fixed_work(const quanta_request& r);

/// The power in each of the frequencies k / (2 m quantum), k = 0..m, where 2 m is the length of the pieces of a series
/// that are averaged: the largest power of two up to 2048 that the series is at least as long as. Empty: fewer than 8.
struct spectrum {
  double step_hz = 0;
  std::vector<double> power;  // of the noise as a share of time; the mean is removed
};
spectrum spectrum_of(const std::vector<double>& noise_ns, double quantum_ns);

}  // namespace shoal::noise
