// SPDX-License-Identifier: Apache-2.0
// Figures of interruptions: per kind of event how often and how long, per class its share; the kernel's part per
// quantum, to lay beside the series of FTQ; and how much of the measured detours the kernel's events explain.
// Who may call: one thread at a time. Never switches tasks. Test: tests/unit/noise/summary_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "noise/interruptions.hpp"
#include "noise/quanta.hpp"

namespace shoal::noise {

struct event_row {
  activity what = activity::unattributed;
  std::uint32_t detail = 0;
  std::vector<std::uint64_t> lengths_ns;  // in rising order

  std::uint64_t total_ns() const noexcept;
  double average_ns() const noexcept;
  std::uint64_t p99_ns() const noexcept;
};

/// One row for each activity and detail, those with the most time first.
std::vector<event_row> event_rows(std::span<const interruption> interruptions);

using class_times = std::array<double, k_classes>;  // nanoseconds
class_times times_by_class(std::span<const interruption> interruptions);

/// What the interruptions took of each quantum of `of`, on its processor.
std::vector<class_times> synthetic_series(std::span<const interruption> interruptions, const quanta_result& of);

/// Leaves of a record what happened within the quanta of each thread of `series`: only that can be laid beside what the
/// thread has lost, and shares of it have the measured time as their whole.
void keep_measured(noise_record& record, std::span<const quanta_result> series);

/// A detour and what the kernel did meanwhile.
struct explained_detour {
  detour when;
  std::uint64_t kernel_ns = 0;           // of the parts
  std::vector<interruption_part> parts;  // empty: no event of the kernel
};
/// In the order of time.
std::vector<explained_detour> explain(const quanta_result& measured, std::span<const interruption> interruptions);

struct explanation {
  double detours_ns = 0;  // all of them
  double events_ns = 0;   // the kernel's parts within them
  double edges_ns = 0;    // the rest of detours with an event: the way into the kernel and out, caches, and the tracing
  double nothing_ns = 0;  // detours without an event: unattributed
};
explanation explained_share(std::span<const explained_detour> detours);

/// What a measured thread has lost, as shares of its time from 0 to 1.
struct lost_shares {
  double lost = 0;
  double kernel = 0;        // detours with an event, the way into the kernel and out included
  double unattributed = 0;  // detours without an event
  double slower = 0;        // without any detour
};
lost_shares shares_of(const quanta_result& measured, std::span<const interruption> interruptions);

/// "timer interrupt 2.2 us, timer softirq 1.8 us, preemption (kworker/0:1) 2.2 us".
std::string describe(std::span<const interruption_part> parts, const word_table& words);
/// "device interrupt (virtio1-req.0)".
std::string describe(activity what, std::uint32_t detail, const word_table& words);

}  // namespace shoal::noise
