// SPDX-License-Identifier: Apache-2.0
#include "rank/profile.hpp"

#include <algorithm>

#include "base/rough_time.hpp"

namespace shoal::rank {

constinit job_profile* the_profile = nullptr;

std::uint64_t profile_clock() noexcept { return base::rough_time::now(); }
double profile_ticks_per_second() { return 1e6 * base::rough_time::per_us(); }

void rank_profile::begin(rank_state& me) noexcept {
  begun_ = profile_clock();
  me.add_setting(*this);
}

void rank_profile::end(rank_state& me) noexcept {
  me.remove_setting(*this);
  ticks = profile_clock() - begun_;
}

void rank_profile::put_aside(const char*) noexcept {
  ++calls;
  called_ = profile_clock();
}

void rank_profile::bring_back() noexcept {
  call_ticks += profile_clock() - called_;
  called_ = 0;
}

void rank_profile::count_wait(const char* function, std::uint64_t waited, std::uint64_t ready) {
  wait_ticks += waited;
  waits& w = by_function[function == nullptr ? "a call" : function];
  ++w.count;
  w.ticks += waited;
  w.ready_ticks += std::min(ready, waited);
}

void rank_profile::count_copy(std::uint64_t taken, std::uint64_t bytes) noexcept {
  copied_bytes += bytes;
  if (called_ != 0) copy_ticks += taken;  // else it interrupts the program's own code
}

void rank_profile::count_message(int world, std::uint64_t bytes) {
  messages& m = sent_to[world];
  ++m.count;
  m.bytes += bytes;
}

void rank_profile::look_at_queues(const matching& queues) noexcept {
  longest_receives = std::max<std::uint64_t>(longest_receives, queues.receives());
  longest_messages = std::max<std::uint64_t>(longest_messages, queues.messages());
}

job_profile::job_profile(const job_ranks& of)
    : first_(of.at(0).world), ranks_(static_cast<std::size_t>(of.size_here())) {}

std::uint64_t wait_profiled(const wait_note& note, const std::uint64_t* ready) noexcept {
  const std::uint64_t begun = profile_clock();
  const std::uint64_t word = sched::this_worker()->leave(detail::wait_kind::message, &note);
  const std::uint64_t ended = profile_clock();
  const std::uint64_t since = ready == nullptr || *ready == 0 ? ended : *ready;
  the_profile->here(note.rank).count_wait(note.function, ended - begun, ended - since);
  return word;
}

void yield_profiled(rank_state& me, const char* function) noexcept {
  const std::uint64_t begun = profile_clock();
  me.home.yield();
  const std::uint64_t taken = profile_clock() - begun;
  the_profile->at(me).count_wait(function, taken, taken);
}

void copy_timer::begin(std::uint64_t bytes) noexcept {
  const rank_state* const me = current_rank();
  if (me == nullptr) return;
  of_ = &the_profile->at(*me);
  bytes_ = bytes;
  begun_ = profile_clock();
}

}  // namespace shoal::rank
