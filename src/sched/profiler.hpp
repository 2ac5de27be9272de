// SPDX-License-Identifier: Apache-2.0
// The profile of a pool: switches the recorders of its workers on and off, and reads them.
// Who may call: any thread. start, stop and read take a lock for a short time, and read waits for a worker that is
// writing. None switches tasks. The pool must exist; stop all profiles before destroying it.
// Guarantees: counters of recorders only increase, so a span is the difference of two readings, also if spans overlap.
// Tests: tests/unit/sched/profile_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/profile_recorder.hpp"
#include "sched/stack_sampler.hpp"
#include "shoal/profile_result.hpp"
#include "trace/trace_file.hpp"

namespace shoal::sched {

class pool;

/// What one recorder held.
struct recorder_reading {
  std::array<std::int64_t, k_profile_states> ticks{};
  std::array<std::uint64_t, k_profile_operations> count{};
  std::array<std::uint64_t, k_profile_operations> timed{};
  std::array<std::int64_t, k_profile_operations> sum{};
  std::array<std::int64_t, k_profile_operations> once{};
  std::array<profile_attempts, k_worker_distances> attempts{};
  std::uint64_t begun = 0;
  std::uint64_t unspawned = 0;
  std::uint64_t left = 0;
  std::uint64_t served = 0;
  std::uint64_t rounds = 0;
  std::uint64_t parks = 0;
  std::uint64_t idle_polls = 0;
  std::uint64_t idle_spawned = 0;
};

struct pool_reading {
  std::uint64_t ticks = 0;
  std::vector<recorder_reading> workers;
};

class profiler {
public:
  explicit profiler(pool& owner) : pool_(owner) {}
  profiler(const profiler&) = delete;
  profiler& operator=(const profiler&) = delete;
  ~profiler();

  /// From the next start on, workers write their events there, too; nullptr: no more. While no profile is wanted.
  /// `name_code` gives the code in the trace so far its names.
  void trace_into(trace::trace_writer* events, std::function<void()> name_code) {
    events_ = events;
    name_code_ = std::move(name_code);
  }
  /// Before code is unloaded that may be in the trace. Any thread.
  void name_code() const {
    if (name_code_) name_code_();
  }

  /// Samples the stacks of the calling thread, which is that worker's, into the trace while the result lives; nothing
  /// where there is no trace, or one without samples.
  std::unique_ptr<stack_sampler> sample(unsigned worker);

  /// Of a name in the trace; 0: there is none.
  std::uint32_t number_of(std::string_view name) noexcept;

  void start();
  void stop() noexcept;

  /// While started.
  pool_reading read();
  /// How many workers run tasks now.
  unsigned running();

private:
  struct seen {
    profile_recorder::clock::reading clock;
    profile_state state;  // now
    std::uint64_t since;
  };
  seen look_at(unsigned worker) const noexcept;

  pool& pool_;
  trace::trace_writer* events_ = nullptr;
  std::function<void()> name_code_;
  std::mutex lock_;
  unsigned users_ = 0;
  std::atomic<std::uint32_t> epoch_{0};    // partner: recorders, which join
  std::atomic<std::uint64_t> started_{0};  // of this epoch
  std::vector<std::unique_ptr<profile_recorder>> recorders_;
};

/// The difference of two readings, as times. `ticks_per_second` of base::ticks().
profile profile_between(const pool_reading& from, const pool_reading& to, double ticks_per_second);

}  // namespace shoal::sched
