// SPDX-License-Identifier: Apache-2.0
#include "rank/call_trace.hpp"

#include "sched/pool.hpp"

namespace shoal::rank {
namespace {

trace::event_ring* events_of(const rank_state& me) noexcept {
  const sched::profile_recorder* const p = me.home.profile();
  return p == nullptr ? nullptr : p->events();
}

}  // namespace

void call_trace::put_aside(const char* function) noexcept {
  trace::event_ring* const events = events_of(me_);
  if (events == nullptr) return;
  std::uint32_t number = 0;
  try {
    const auto [at, is_new] = numbers_.try_emplace(function, 0);
    if (is_new) at->second = me_.home.owner().profiling().number_of(function);
    number = at->second;
  } catch (const std::bad_alloc&) {
    // it is in the trace without a name
  }
  events->add(trace::event_kind::call_begin, 0, number);
}

void call_trace::bring_back() noexcept {
  if (trace::event_ring* const events = events_of(me_); events != nullptr) events->add(trace::event_kind::call_end);
}

}  // namespace shoal::rank
