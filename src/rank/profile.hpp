// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a process spend their time, if somebody wants to know: in their own code, in copies of messages, in
// the rest of the library, and in waits, by the function that waits. Also whom they send to, and how long their queues get.
// Without a profile a wait, a copy and a message each cost a look at one pointer, and a call of MPI costs nothing.
// Who may call: a rank's profile is used by its worker alone. the_profile is set and reset while no rank runs. Nothing here
// switches tasks but wait_profiled() and yield_profiled().
// Limits: a message handler that runs on top of a rank's task counts as the rank.
// Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "rank/rank.hpp"

namespace shoal::rank {

/// One rank. Times in ticks of profile_clock(). A rank puts it aside in each call of MPI, as other settings.
class rank_profile final : public thread_setting {
public:
  struct waits {
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;
    std::uint64_t ready_ticks = 0;  // of these: it could have gone on, but others ran on its worker
  };
  struct messages {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  /// Its task has started, and has ended.
  void begin(rank_state& me) noexcept;
  void end(rank_state& me) noexcept;
  void put_aside(const char* function) noexcept override;
  void bring_back() noexcept override;
  void count_wait(const char* function, std::uint64_t ticks, std::uint64_t ready_ticks);
  void count_copy(std::uint64_t ticks_taken, std::uint64_t bytes) noexcept;
  void count_message(int world, std::uint64_t bytes);
  /// What waits for it at this moment.
  void look_at_queues(const matching& queues) noexcept;

  std::uint64_t ticks = 0;  // from begin to end
  std::uint64_t call_ticks = 0;
  std::uint64_t copy_ticks = 0;
  std::uint64_t wait_ticks = 0;
  std::uint64_t calls = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t longest_receives = 0;
  std::uint64_t longest_messages = 0;
  std::uint64_t stack_bytes = 0;  // that its stack has taken; set by who measures it
  std::map<std::string_view, waits> by_function;
  std::map<int, messages> sent_to;  // by rank of the world

private:
  std::uint64_t begun_ = 0;
  std::uint64_t called_ = 0;  // 0: not in a call
};

class job_profile {
public:
  explicit job_profile(const job_ranks& of);
  rank_profile& at(int local) noexcept { return ranks_[static_cast<std::size_t>(local)]; }
  const rank_profile& at(int local) const noexcept { return ranks_[static_cast<std::size_t>(local)]; }
  rank_profile& at(const rank_state& r) noexcept { return at(r.local); }
  rank_profile& here(int world) noexcept { return at(world - first_); }

private:
  int first_;
  std::vector<rank_profile> ranks_;
};

/// How many ticks of profile_clock() a second has. Takes milliseconds.
double profile_ticks_per_second();
/// `me` lets others run, in a call of `function`.
void yield_profiled(rank_state& me, const char* function) noexcept;

/// While this object exists, the calling rank copies so many bytes.
class copy_timer {
public:
  explicit copy_timer(std::uint64_t bytes) noexcept {
    if (the_profile != nullptr) [[unlikely]]
      begin(bytes);
  }
  ~copy_timer() {
    if (of_ != nullptr) [[unlikely]]
      of_->count_copy(profile_clock() - begun_, bytes_);
  }
  copy_timer(const copy_timer&) = delete;
  copy_timer& operator=(const copy_timer&) = delete;

private:
  void begin(std::uint64_t bytes) noexcept;
  rank_profile* of_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace shoal::rank
