// SPDX-License-Identifier: Apache-2.0
// Measures noise: on idle processors by threads that count (FTQ, FWQ), or of a program that it starts; with the
// kernel's events where they may be seen, without them otherwise.
// Who may call: the main thread of a command. Never switches tasks. Blocks for as long as it measures. Throws
// shoal::error for a program that cannot be started or processors that cannot be measured; a kernel that tells nothing
// is no error (see `why_no_events`). Test: tests/unit/noise/measurement_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/interrupt_counts.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"
#include "noise/interruptions.hpp"
#include "noise/quanta.hpp"

namespace shoal::noise {

enum class method : std::uint8_t { fixed_time, fixed_work };

struct measurement_request {
  std::vector<unsigned> processors;  // measured, one thread each
  method how = method::fixed_time;
  double seconds = 10;
  std::uint64_t quantum_ns = 1'000'000;
  std::uint64_t detour_ns = 500;
  bool events = true;                            // of the kernel
  std::size_t ring_bytes = 8U << 20;             // of the kernel's memory, per processor
  std::vector<std::string> program;              // measured instead of processors, if not empty
  std::vector<std::string> environment;          // added for it
  std::vector<unsigned> all_processors;          // that the program can run on
  std::function<void(double seconds)> progress;  // called about every second, if set
  const machine::interruption* stop = nullptr;   // Ctrl-C ends the measurement: the result has what was until then
};

struct measurement {
  std::vector<quanta_result> series;  // one per processor; none of a program
  std::optional<machine::exit_status> program_end;
  std::uint64_t begin_ns = 0;  // of the kernel's clock
  std::uint64_t end_ns = 0;
  bool has_events = false;
  std::string why_no_events;
  std::vector<std::string> missing;  // tracepoints that this kernel does not have or refuses
  std::uint64_t marks = 0;           // events of the kernel
  double recorded_ns = 0;            // how long they were recorded, summed over the processors
  double mark_ns = 0;                // what one costs, measured; 0: could not be measured
  std::uint64_t fault_ns = 0;        // what a page fault costs, measured
  word_table words;
  noise_record record;
  machine::interrupt_counts counts;  // during the measurement
};

/// How this command itself is named among those that preempt.
inline constexpr std::string_view k_own_name = "this measurement";

measurement measure(const measurement_request& r);

}  // namespace shoal::noise
