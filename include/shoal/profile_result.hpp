// SPDX-License-Identifier: Apache-2.0
// Where the time of a pool's workers went over a span, and that as text: a table, a JSON object, a picture.
// Who may call: anyone; plain data, and functions that read nothing else.
// Guarantees: for each worker work + scheduling + idle is the span's length. Counts are exact. The short operations of
// a worker with work (spawn, get, resume, steal, messages) are estimates from those that were timed; the rest is
// measured. `work` is what is left: the bodies of tasks, with what they call, and children that a waiter runs itself.
// All times are of the clock: when the system gives the processor to others, that counts for whatever the worker was
// at. Shown by tests/unit/trace/, tests/unit/sched/profile_test.cpp.
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
  profile_entry get;     // tasks taken from its own deque and inboxes
  profile_entry resume;  // waits that ended: from leaving, or from the end of a task, to where the waiting task goes on
  profile_entry steal;   // tasks taken from others; the time of the attempts that won
  profile_entry messages;  // looks at them; the time of serving them
  profile_entry ring;      // parked workers that it woke

  // Idle.
  profile_entry look;  // rounds of looking for work in vain
  profile_entry spin;  // waiting between them
  profile_entry park;  // asleep, until rung

  std::array<profile_attempts, 6> attempts;  // by shoal::worker_distance of the victim

  std::uint64_t begun = 0;   // tasks from deques, its own and others'
  std::uint64_t left = 0;    // waits
  std::uint64_t served = 0;  // looks at messages that found some

  double scheduling_seconds() const noexcept;
  double idle_seconds() const noexcept;
  double seconds() const noexcept { return work_seconds + scheduling_seconds() + idle_seconds(); }
};

struct profile {
  double wall_seconds = 0;
  std::vector<profile_worker> workers;

  // Of a job of several nodes: what carries its messages, and the memory that had to be registered with it.
  std::string transport;
  std::uint64_t registrations = 0;
  std::uint64_t registered_bytes = 0;

  /// What the same work took without tasks, if known: what tasks took longer is inflation (misses of caches, memory
  /// shared, code that was not inlined), and part of the work.
  std::optional<double> serial_seconds;

  // Over time, one value per interval.
  double interval_seconds = 0;
  std::vector<std::uint32_t> running;  // workers that ran tasks
  std::vector<std::uint32_t> offered;  // tasks that lay in deques; half of a range counts as one

  profile_worker total() const noexcept;
  /// May be below nought.
  std::optional<double> inflation_seconds() const noexcept;
};

std::string profile_table(const profile& p);
/// One object, on several lines.
std::string profile_json(const profile& p);
/// An SVG document of its own.
std::string profile_picture(const profile& p);

}  // namespace shoal
