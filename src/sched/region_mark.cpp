// SPDX-License-Identifier: Apache-2.0
#include "shoal/region_mark.hpp"

#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal {
namespace {

sched::profile_recorder* recorder() noexcept {
  sched::worker* const w = sched::this_worker();
  return w == nullptr ? nullptr : w->profile();
}

// 0: nowhere.
std::uint32_t number_of(std::string_view name) noexcept {
  const sched::profile_recorder* const p = recorder();
  if (p == nullptr || p->events() == nullptr) [[likely]]
    return 0;
  return sched::this_worker()->owner().profiling().number_of(name);
}

void add(trace::event_kind kind, std::uint32_t number, std::uint64_t value = 0) noexcept {
  const sched::profile_recorder* const p = recorder();
  if (p != nullptr && p->events() != nullptr) p->events()->add(kind, 0, number, value);
}

}  // namespace

region_mark::region_mark(std::string_view name) noexcept : number_(number_of(name)) {
  if (number_ != 0) add(trace::event_kind::region_begin, number_);
}

region_mark::~region_mark() {
  if (number_ != 0) add(trace::event_kind::region_end, number_);
}

void trace_mark(std::string_view name, std::uint64_t value) noexcept {
  if (const std::uint32_t number = number_of(name); number != 0) add(trace::event_kind::mark, number, value);
}

void name_task(std::string_view name) noexcept {
  if (const std::uint32_t number = number_of(name); number != 0) add(trace::event_kind::task_label, number);
}

bool is_traced() noexcept {
  const sched::profile_recorder* const p = recorder();
  return p != nullptr && p->events() != nullptr;
}

}  // namespace shoal
