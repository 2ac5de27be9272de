// SPDX-License-Identifier: Apache-2.0
// The functions of shoal/detail/worker.hpp: what programs' code calls on the worker that it runs on.
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/membarrier.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

thread_local constinit worker_face* t_worker = nullptr;
thread_local constinit void* t_port = nullptr;

namespace {

sched::worker& self(worker_face& w) noexcept { return static_cast<sched::worker&>(w); }
fiber::fiber* fiber_of(suspended* s) noexcept { return reinterpret_cast<fiber::fiber*>(s); }

// The only way into a deque: a worker that fell asleep a moment ago must be told.
[[gnu::always_inline]] inline void publish(worker_face& w, task& t) {
  w.tasks.push(&t);
  machine::light_fence();  // a worker about to park fences for us (worker::park)
  if (w.sleepers->load(std::memory_order_relaxed) != 0) [[unlikely]]
    self(w).owner().wake_one(&self(w));
}

}  // namespace

void* allocate(worker_face& w, std::size_t bytes) {
  if (bytes > worker_face::k_block_bytes) return ::operator new(bytes);
  const fiber::unwatched quiet;
  worker_face::block* b = w.blocks;
  if (b == nullptr) return ::operator new(worker_face::k_block_bytes);
  w.blocks = b->next;
  --w.block_count;
  fiber::acquire_from(b);  // what was in it before is over
  return b;
}

void deallocate(worker_face& w, void* at, std::size_t bytes) noexcept {
  if (bytes > worker_face::k_block_bytes || w.block_count >= worker_face::k_most_blocks) {
    ::operator delete(at);
    return;
  }
  const fiber::unwatched quiet;
  fiber::release_to(at);
  auto* b = static_cast<worker_face::block*>(at);
  b->next = w.blocks;
  w.blocks = b;
  ++w.block_count;
}

void spawn(worker_face& w, task& t) {
  const fiber::unwatched quiet;
  fiber::release_to(&t);
  publish(w, t);
  ++w.spawned;
}

bool unspawn(worker_face& w, task& t) noexcept {
  const fiber::unwatched quiet;
  return w.tasks.bottom_item() == &t && w.tasks.pop() == &t;
}

task* unspawn_of(worker_face& w, const void* group) noexcept {
  const fiber::unwatched quiet;
  task* t = w.tasks.pop();
  if (t == nullptr) return nullptr;
  fiber::acquire_from(t);
  if (t->group == group) return t;
  publish(w, *t);  // whoever looked meanwhile saw nothing
  return nullptr;
}

suspended* this_task() noexcept {
  SHOAL_ASSERT(t_worker != nullptr, "only a task may wait here; start one with shoal::run");
  return reinterpret_cast<suspended*>(self(*t_worker).current());
}

void leave() noexcept { self(*t_worker).leave(); }

void wake(suspended* s) noexcept {
  fiber::fiber* f = fiber_of(s);
  static_cast<sched::worker*>(f->owner)->make_ready(*f);
}

void report_dropped(const std::exception_ptr& e) noexcept {
  if (std::uncaught_exceptions() > 0) return;  // another one is on its way, and says more
  constexpr const char* k_advice = "wait() of its task_group, or get() of its future, would have thrown it";
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& known) {
    base::warn("an exception that a task threw was dropped: {} ({})", known.what(), k_advice);
  } catch (...) {
    base::warn("an exception that a task threw was dropped; {}", k_advice);
  }
}

void join_counter::ended() noexcept {
  fiber::release_to(this);
  // Partner: wait(). Only after the waiter has subtracted what it waits for can the sum come to nought.
  if (ended_.fetch_add(1, std::memory_order_acq_rel) == -1) wake(waiter_);
}

void join_counter::wait() noexcept {
  if (begun_ == 0) return;
  waiter_ = this_task();
  const std::int64_t awaited = std::exchange(begun_, 0);
  if (ended_.fetch_sub(awaited, std::memory_order_acq_rel) != awaited) leave();
  fiber::acquire_from(this);
}

void settle(std::uint64_t issued_before) noexcept {
  const unwatched quiet;
  if (*t_worker->async_issued == issued_before) return;
  struct settled final : sched::fence_request {
    suspended* waiter = nullptr;
  } request;
  request.waiter = this_task();
  request.done = [](sched::fence_request& r) noexcept { wake(static_cast<settled&>(r).waiter); };
  auto& w = self(*t_worker);
  if (!w.owner().above().fence(w, request)) leave();
}

}  // namespace shoal::detail

namespace shoal {

void yield() noexcept {
  if (detail::t_worker != nullptr) sched::this_worker()->yield();
}

void poll() noexcept {
  if (detail::t_worker != nullptr) sched::this_worker()->poll();
}

void task_group::wait_all() noexcept {
  if (join_.nothing_begun()) return;
  detail::worker_face& w = *detail::t_worker;
  while (!join_.nothing_begun()) {
    detail::task* t = detail::unspawn_of(w, this);
    if (t == nullptr) break;
    auto& child = static_cast<child_base&>(*t);
    child.run_inline(child);
    join_.ran_here();
  }
  join_.wait();
}

}  // namespace shoal
