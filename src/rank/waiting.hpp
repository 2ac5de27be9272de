// SPDX-License-Identifier: Apache-2.0
// How a task of a rank waits until operations have completed, and what it says meanwhile.
// Who may call: tasks on the rank's worker. await() switches tasks; complete_one() does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sched/worker.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::rank {

class communicator;
class job_profile;

/// Of this process; nullptr: nobody wants to know where its ranks spend their time (profile.hpp). Set while none runs.
extern constinit job_profile* the_profile;

/// What a rank waits for, as reports say. On the stack of the wait.
struct wait_note : detail::described_wait {
  const char* function = nullptr;  // of MPI: "MPI_Recv"
  int rank = 0;                    // of the world
  const communicator* where = nullptr;
  int peer = 0;  // who sends the message that it waits for, or receives the one that it sends
  int tag = 0;
  enum class kind : std::uint8_t { some_request, receive, send, probe, collective } what = kind::some_request;
  const void* called_from = nullptr;
  mutable const std::size_t* missing = nullptr;  // completions; for debuggers (debug_table.hpp)

  wait_note(const char* called, int world_rank, const communicator* in, int with, int tagged, kind k,
            const void* from) noexcept
      : described_wait{describe_wait},
        function(called),
        rank(world_rank),
        where(in),
        peer(with),
        tag(tagged),
        what(k),
        called_from(from) {}
  static detail::wait_description describe_wait(const described_wait& self);
};

/// A wait of a rank that is no call of MPI: "sleep", for "its time".
struct other_wait : detail::described_wait {
  int rank;
  const char* call;
  const char* waits_for;
  other_wait(int world_rank, const char* called, const char* awaited) noexcept
      : described_wait{describe_wait}, rank(world_rank), call(called), waits_for(awaited) {}
  static detail::wait_description describe_wait(const described_wait& self);
};

/// What a profile is told of a wait: it leaves the worker in between. `ready`: since when the task could go on. Returns
/// the word that the wait ended with.
std::uint64_t wait_profiled(const wait_note& note, const std::uint64_t* ready) noexcept;
/// The clock of profiles.
std::uint64_t profile_clock() noexcept;

/// A wait for so many completions.
class waiter {
public:
  explicit waiter(std::size_t missing = 1) noexcept : missing_(missing) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// One more of them has completed, or more than so many.
  void complete_one() noexcept {
    if (missing_ == 0 || --missing_ != 0 || task_ == nullptr) return;
    if (the_profile != nullptr) [[unlikely]]
      ready_since_ = profile_clock();
    detail::wake(task_);
  }
  bool done() const noexcept { return missing_ == 0; }
  /// Returns when all have completed; others run meanwhile.
  void await(const wait_note& note) noexcept {
    if (missing_ == 0 || sched::this_worker()->look_in_place(missing_)) return;
    note.missing = &missing_;
    task_ = detail::this_task();
    if (the_profile != nullptr) [[unlikely]]
      wait_profiled(note, &ready_since_);
    else
      sched::this_worker()->leave(detail::wait_kind::message, &note);
    task_ = nullptr;
  }

private:
  std::size_t missing_;
  detail::suspended* task_ = nullptr;
  std::uint64_t ready_since_ = 0;  // of profile_clock()
};

}  // namespace shoal::rank
