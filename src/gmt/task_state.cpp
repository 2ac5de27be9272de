// SPDX-License-Identifier: Apache-2.0
#include "gmt/task_state.hpp"

#include "gmt/node_state.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::gmt {

void task_scope::end_operations() {
  begun_operations& b = *state_.begun;
  b.loops.wait();
  b.calls.wait();
  b.raw.wait();
  b.loops.rethrow();
  b.calls.rethrow();
  b.raw.rethrow();
}

void task_scope::give_back_id() noexcept {
  const detail::tsan_ignore_scope of_this_worker;
  worker_state& w = node_state::here().worker();
  try {
    w.free_ids.push_back(state_.id / detail::t_worker->siblings);
  } catch (...) {  // no memory: the number is lost
  }
}

}  // namespace shoal::gmt

uint32_t gmt_task_id() {
  using namespace shoal;
  const detail::tsan_ignore_scope of_this_worker;
  gmt::worker_state& w = gmt::node_state::here().worker();
  gmt::task_state* const s = gmt::task_state::here();
  if (s != nullptr && s->id != gmt::task_state::k_no_id) return s->id;
  std::uint32_t number = w.next_id;
  if (w.free_ids.empty()) {
    ++w.next_id;
  } else {
    number = w.free_ids.back();
    w.free_ids.pop_back();
  }
  // Numbers of a worker are worker, worker + workers, ...: small as long as few tasks of each have one.
  const std::uint32_t id = number * detail::t_worker->siblings + detail::t_worker->index;
  if (s == nullptr)
    w.free_ids.push_back(number);
  else
    s->id = id;
  return id;
}

bool gmt_task_is_non_preemptable() {
  const shoal::gmt::task_state* const s = shoal::gmt::task_state::here();
  return s != nullptr && s->non_preemptable;
}
