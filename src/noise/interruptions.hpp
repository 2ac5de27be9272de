// SPDX-License-Identifier: Apache-2.0
// What interrupted the measured threads: from the kernel's marks of all processors, in the order of time, to a list of
// interruptions with their parts. Time counts only while a measured thread could run: while it was on a processor, or
// waited for one. A part has its own time only: an interrupt within a softirq is not counted twice. A hard interrupt or
// a page fault begins a new interruption; softirqs, the scheduler and preemption that follow at once belong to it.
// Services that the program asked for (system calls) are no noise. Who may call: one thread at a time. Never switches
// tasks. Cost: linear in the marks. After LTTNG-NOISE (Morari et al.). Test: tests/unit/noise/interruptions_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "noise/kernel_mark.hpp"

namespace shoal::noise {

struct interruption_part {
  activity what = activity::unattributed;
  std::uint32_t detail = 0;  // of the words
  std::uint64_t begin_ns = 0;
  std::uint64_t ns = 0;
};

struct interruption {
  std::int32_t thread = 0;
  std::uint16_t processor = 0;  // where it began
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::vector<interruption_part> parts;

  std::uint64_t noise_ns() const noexcept;
};

struct thread_time {
  std::uint64_t running_ns = 0;  // on a processor, interruptions included
  std::uint64_t waiting_ns = 0;  // could run, but did not
};

struct noise_record {
  std::vector<interruption> interruptions;  // in the order of their ends
  std::map<std::int32_t, thread_time> threads;
  std::uint64_t migrations = 0;
  std::uint64_t lost = 0;       // records that the kernel had no room for
  std::uint64_t unmatched = 0;  // ends without a beginning and beginnings without an end, as when records were lost

  std::uint64_t runnable_ns() const noexcept;
};

struct noise_question {
  std::set<std::int32_t> threads;  // measured from the beginning; the threads that they start are added
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  bool running = false;        // the threads are on processors at the beginning
  std::uint64_t fault_ns = 0;  // what a page fault costs, where the kernel does not tell its end
};

/// `marks` in the order of time.
noise_record find_interruptions(std::span<const kernel_mark> marks, const noise_question& question);

}  // namespace shoal::noise
