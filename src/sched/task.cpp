// SPDX-License-Identifier: Apache-2.0
// The functions of shoal/detail/worker.hpp: what programs' code calls on the worker that it runs on.
#include <algorithm>
#include <new>
#include <utility>

#include "base/thread_value.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

thread_local constinit worker_base* t_worker = nullptr;
thread_local constinit port* t_port = nullptr;

namespace {

const base::thread_value k_worker_of_thread(+[]() noexcept { return &t_worker; });
const base::thread_value k_port_of_thread(+[]() noexcept { return &t_port; });

}  // namespace

namespace {

sched::worker& self(worker_base& w) noexcept { return static_cast<sched::worker&>(w); }
fiber::fiber* fiber_of(suspended* s) noexcept { return reinterpret_cast<fiber::fiber*>(s); }

}  // namespace

void* allocate_anew(worker_base& w, std::size_t bytes) {
  if (bytes > worker_base::k_block_bytes) return ::operator new(bytes);
  self(w).refill_blocks(worker_base::is_large(bytes));
  return allocate(w, bytes);
}

void put_chain_aside(worker_base& w, std::size_t bytes) noexcept {
  const bool large = worker_base::is_large(bytes);
  worker_base::block_list& list = w.blocks[large];
  if (list.full != nullptr) self(w).owner().blocks(large).put(list.full);
  list.full = std::exchange(list.first, nullptr);
  list.count = 0;
}

void wake_a_sleeper(worker_base& w) noexcept { self(w).owner().wake_one(&self(w)); }

void spawn_timed(worker_base& w, task& t) noexcept {
  const tsan_ignore_scope ignore;
  sched::profile_recorder* const profile = self(w).profile();
  if (profile == nullptr) return publish_reserved(w, t);
  const auto began = profile->spawn_begins();
  publish_reserved(w, t);
  profile->spawn_ends(began);
}

void arrive(worker_base& w, task& t) {
  const tsan_ignore_scope ignore;
  release_to(&t);
  self(w).add_arrived(t);
  if (++w.spawn_clock == 0) self(w).time_next_spawn(1);
}

void let_others_run(worker_base& w) noexcept { self(w).let_others_run(); }

// Notes the addresses between here and the end of the room: whatever stack runs, these are of this one.
bool look_for_room(worker_base& w, const void* here) noexcept {
  const tsan_ignore_scope ignore;
  const auto from = reinterpret_cast<std::uintptr_t>(self(w).room_bottom());
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  if (at < from) return false;
  w.room_from = from;
  w.room_bytes = at - from + 1;
  return true;
}

void invoke_on_other_stacks(body_ref f, body_ref g) {
  std::exception_ptr of_f, of_g;
  const auto catching = [](body_ref b, std::exception_ptr& thrown) {
    return [b, &thrown] {
      try {
        b.call(b.body);
      } catch (...) {
        thrown = std::current_exception();
      }
    };
  };
  task_group both;
  both.run(catching(g, of_g));
  both.run(catching(f, of_f));
  both.wait();
  if (of_f) std::rethrow_exception(of_f);
  if (of_g) std::rethrow_exception(of_g);
}

suspended* this_task() noexcept {
  SHOAL_ASSERT(t_worker != nullptr,
               "only a task may wait here: call it from a task, inside shoal::pool::run or submit, or shoal::run");
  return reinterpret_cast<suspended*>(self(*t_worker).current());
}

namespace {

[[gnu::noinline]] void leave_for_outside(wait_kind why, const void* object) noexcept {
  self(*t_worker).wait_from_outside(1);
  self(*t_worker).leave(why, object);
  self(*t_worker).wait_from_outside(-1);
}

}  // namespace

void leave(wait_kind why, const void* object) noexcept {
  if (ends_from_outside(why)) [[unlikely]]
    return leave_for_outside(why, object);
  self(*t_worker).leave(why, object);
}

void wake(suspended* s) noexcept {
  fiber::fiber* const f = fiber_of(s);
  auto* const owner = static_cast<sched::worker*>(f->owner);
  if (owner == t_worker) {
    const tsan_ignore_scope ignore;
    return owner->make_ready_here(*f, 0);
  }
  if (f->owner == &sched::k_moving) [[unlikely]]
    return sched::wake_moving(*f);
  owner->make_ready(*f);
}

void spawn_apart(worker_base& w, task& t, priority p) {
  const tsan_ignore_scope ignore;
  release_to(&t);
  sched::pool& pool = self(w).owner();
  pool.by_priority().put(w.index, p, t);
  if (p == priority::high) w.turns = 0;                  // it looks at them soon
  if (++w.spawn_clock == 0) self(w).time_next_spawn(1);  // another one, since these cost more
  // Partner: the fence in worker::park(), before it reads the lanes.
  lockfree::std_atomics::fence(std::memory_order_seq_cst);
  pool.wake_one(nullptr);  // all take from the lanes, whomever their policies reach
}

void settle_now() noexcept {
  const tsan_ignore_scope ignore;
  struct settled final : sched::fence_request {
    suspended* waiter = nullptr;
  } request;
  request.waiter = this_task();
  request.done = [](sched::fence_request& r) noexcept { wake(static_cast<settled&>(r).waiter); };
  auto& w = self(*t_worker);
  if (!w.owner().hooks().fence(w, request)) leave(wait_kind::settling);
}

}  // namespace shoal::detail

namespace shoal {
namespace {

constexpr const char* k_waits_for_itself =
    "a task_group is waited for from inside itself, by one of its own tasks or by a second task; only the task that "
    "uses it may wait, once at a time";

}  // namespace

void yield() noexcept {
  if (detail::t_worker != nullptr) sched::this_worker()->yield();
}

void poll() noexcept {
  if (detail::t_worker != nullptr) sched::this_worker()->poll();
}

void task_group::call_in_scope(child_base& c, void (*body)(child_base&)) noexcept {
  task_group& g = c.owner();
  const detail::entered_scope scope(g.scope_, g.given_scope_ != nullptr);
  try {
    if (scope.may_begin()) body(c);
  } catch (...) {
    g.children_.fail(std::current_exception());
  }
}

void task_group::wait_all() noexcept {
  detail::worker_base& w = detail::worker_here();  // fails with a message on other threads
  SHOAL_ASSERT(!children_.announced(), k_waits_for_itself);
  children_.announce(true);
  const std::uint64_t issued = detail::issued_count(w);
  std::byte here;  // only its address is used
  const bool room = detail::has_room(w, detail::stack_address(&here));
  while (room && !children_.nothing_begun()) {
    detail::take_turn(w);
    detail::task* t = detail::unspawn_of(w, this);
    if (t == nullptr) break;
    auto& child = static_cast<child_base&>(*t);
    child.run_inline(child);
    children_.ran_here();
  }
  if (detail::issued_count(w) != issued) [[unlikely]]
    detail::settle_now();
  if (!children_.nothing_begun()) {
    SHOAL_ASSERT(static_cast<sched::worker&>(w).begun().group != this, k_waits_for_itself);
    // A movable task has moved since it spawned the first child: other tasks of that worker may use this group.
    if (user_ != &w) sched::return_to(const_cast<sched::worker&>(static_cast<const sched::worker&>(*user_)));
    children_.wait_anywhere(detail::wait_kind::children);
  }
  user_ = nullptr;
  children_.announce(false);
}

// The children that are stored in the group keep their places until all have ended.
bool task_group::wait_by(detail::time_limit until) {
  detail::worker_base& w = detail::worker_here();
  SHOAL_ASSERT(!children_.announced() && static_cast<sched::worker&>(w).begun().group != this, k_waits_for_itself);
  if (!children_.nothing_begun()) {
    if (user_ != &w) sched::return_to(const_cast<sched::worker&>(static_cast<const sched::worker&>(*user_)));
    children_.announce(true);
    bool ended = false;
    try {
      ended = children_.wait_until(until);
    } catch (...) {  // no memory for a timer
      children_.announce(false);
      throw;
    }
    children_.announce(false);
    if (!ended) return false;
    user_ = nullptr;
  }
  children_.rethrow();
  return true;
}

}  // namespace shoal
