// SPDX-License-Identifier: Apache-2.0
// The result of a profile: how the workers spent the time of a span; as a table, a JSON object or a picture.
// Who may call: anyone; plain data, and functions of this data.
// Guarantees: for each worker, work + scheduling + idle is the span's length. Counts are exact. The times of short
// operations (spawn, get, resume, steal, messages) are estimated from a random sample; the others are measured. `work`
// is the rest: bodies of tasks, everything they call, and children that a waiter runs inline. All times are wall-clock
// times: if the system preempts a worker, the time counts for the worker's current activity.
// Tests: tests/unit/trace/, tests/unit/sched/profile_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

struct profile_entry {
  std::uint64_t count = 0;
  double seconds = 0;
};

struct profile_attempts {
  std::uint64_t won = 0;
  std::uint64_t lost = 0;   // another was faster
  std::uint64_t empty = 0;  // there was nothing to take
};

struct profile_worker {
  double work_seconds = 0;

  // Scheduling.
  profile_entry spawn;
  profile_entry get;  // tasks taken from its own deque and inboxes
  profile_entry
      resume;  // waits that ended: from the switch, or from the end of a task, until the waiting task continues
  profile_entry steal;     // tasks taken from others; the time of the attempts that won
  profile_entry messages;  // polls; the time of executing messages
  profile_entry ring;      // parked workers that it woke

  // Idle.
  profile_entry look;  // rounds of search that found no work
  profile_entry spin;  // pauses between rounds
  profile_entry park;  // parked, until woken

  std::array<profile_attempts, 6> attempts;  // by shoal::worker_distance of the victim

  std::uint64_t begun = 0;   // tasks started from deques, its own and those of other workers
  std::uint64_t left = 0;    // waits
  std::uint64_t served = 0;  // polls that found messages

  double scheduling_seconds() const noexcept;
  double idle_seconds() const noexcept;
  double seconds() const noexcept { return work_seconds + scheduling_seconds() + idle_seconds(); }
};

struct profile {
  double wall_seconds = 0;
  std::vector<profile_worker> workers;

  // Of a job of several nodes: its transport, and the memory registered with it.
  std::string transport;
  std::uint64_t registrations = 0;
  std::uint64_t registered_bytes = 0;

  /// The time of the same work without tasks, if known. The additional time with tasks is inflation (cache misses,
  /// shared memory, code that was not inlined); it is a part of `work`.
  std::optional<double> serial_seconds;

  // Over time, one value per interval.
  double interval_seconds = 0;
  std::vector<std::uint32_t> running;  // workers that ran tasks
  std::vector<std::uint32_t> offered;  // tasks in deques; a half of a range counts as one

  profile_worker total() const noexcept;
  /// May be negative.
  std::optional<double> inflation_seconds() const noexcept;
};

std::string profile_table(const profile& p);
/// One object, on several lines.
std::string profile_json(const profile& p);
/// An SVG document of its own.
std::string profile_picture(const profile& p);

}  // namespace shoal
