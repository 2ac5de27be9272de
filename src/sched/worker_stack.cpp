// SPDX-License-Identifier: Apache-2.0
// Stacks of a requested size: a call on such a stack, and giving unused stacks back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/memory_info.hpp"
#include "sched/pool.hpp"
#include "sched/stack_overflow.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::sched {

// A call on a stack of its own. The object is on the stack of its caller, which waits until the call has ended. The two
// stacks are one task: the callee uses the notes of the caller, so that messages and cycles of waits name that task,
// and the ranges that the caller is in are still ranges that the running stack is in.
struct stack_call {
  void (*function)(void*) noexcept;
  void* argument;
  fiber::fiber* caller;
};

void worker::on_sized_stack() noexcept {
  worker& w = *this_worker();
  fiber::fiber& self = *w.current_;
  const fiber::tsan_ignore_scope ignore;
  fiber::arrived(self);
#if SHOAL_TSAN
  self.sanitizer.unwatched_for_ever = true;
#endif
  fiber::stack_notes* const own_notes = self.notes;
  fiber::acquire_from(own_notes);  // partner: stack_pool::put() of the fiber that had this stack before
  for (;;) {
    stack_call& call = *w.call_;
    self.notes = call.caller->notes;
    self.outermost = call.caller->outermost;
    fiber::acquire_from(&call);
    {
      const fiber::watched program;
      call.function(call.argument);
    }
    fiber::release_to(&call);
    self.notes = own_notes;
    fiber::fiber& caller = *call.caller;
    sized_stock& stock = *w.sized_[self.size_class - 1U];
    stock.pool.put(&self);
    if (!stock.waiting.empty()) {
      w.make_ready_here(*stock.waiting.front(), 0);
      stock.waiting.pop_front();
    }
    w.resume(self, caller);
  }
}

// Where the stack of a fiber of this worker begins; nullptr for the thread's own stack, whose size is not known.
const std::byte* worker::stack_bottom(const fiber::fiber& f) const {
  if (&f == &native_) return nullptr;
  return owner_.stacks_of_class(f.size_class == k_movable ? 0 : f.size_class).bottom(f.stack);
}

// Above all stacks for a movable one: a child that ran there would move with it.
const std::byte* worker::bottom_for_children() const noexcept {
  return current_->size_class == k_movable ? reinterpret_cast<const std::byte*>(~inline_bytes_)
                                           : stack_bottom(*current_);
}

// May wait for another call of this worker to give its stack back.
fiber::fiber& worker::take_sized(unsigned size_class) {
  auto& stock = sized_[size_class];
  if (stock == nullptr) {
    fiber::stack_region& region = owner_.stacks_of_class(size_class + 1);
    stock = std::make_unique<sized_stock>(region, this, on_sized_stack, static_cast<std::uint8_t>(size_class + 1));
  }
  for (;;) {
    fiber::fiber* const f = stock->pool.take();
    if (stock->pool.unguarded()) looks_before_leaving |= k_stack_depth;
    if (f != nullptr) return *f;
    if (stock->pool.in_use() == 0)
      throw error(
          errc::out_of_memory,
          "no stack of the size that a task asked for is left, or the system refuses memory for it; let fewer "
          "tasks with large stacks run at once, ask for less in shoal::stack_bytes, or raise the setting stacks");
    if (!std::exchange(warned_of_sized_, true))
      base::warn(
          "worker {} has no stack left of the size that a task asked for ({} are in use); raise SHOAL_STACKS or let "
          "fewer tasks with large stacks wait",
          index, stock->pool.in_use());
    stock->waiting.push_back(current_);
    leave(detail::wait_kind::stack);
  }
}

void worker::call_on_stack(std::size_t bytes, void (*function)(void*) noexcept, void* argument) {
  const fiber::tsan_ignore_scope ignore;
  const std::byte* const bottom = stack_bottom(*current_);
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  constexpr std::size_t k_frames_bytes = 1024;  // between here and the body
  if (bytes == 0 ||
      (bottom != nullptr && here >= bottom + bytes + k_frames_bytes)) {  // the current stack has enough room
    const fiber::watched program;
    function(argument);
    return;
  }
  fiber::fiber& me = *current_;
  fiber::fiber& callee = take_sized(fiber::stack_classes::class_of(bytes));
  stack_call call{function, argument, &me};
  fiber::release_to(&call);
  call_ = &call;
  resume(me, callee);
  fiber::acquire_from(&call);
}

// Where a handler runs, for stacks without a guard, and in checked builds.
[[gnu::noinline, gnu::cold]] void worker::check_before_leaving(detail::wait_kind why) noexcept {
  if ((looks_before_leaving & k_in_handler) != 0 && refuse_wait != nullptr) refuse_wait(*this, why);
  SHOAL_CHECK(no_wait_scopes == 0,
              "a task waits inside a no_wait scope: a lock that blocks threads is held over a wait");
  const std::byte* const bottom = stack_bottom(*current_);
  if (bottom != nullptr && static_cast<std::byte*>(__builtin_frame_address(0)) <= bottom + machine::page_size())
    end_for_used_up_stack(*this);
}

[[gnu::noinline, gnu::cold]] void worker::tend_stacks() noexcept {
  constexpr std::uint64_t k_look_ns = 1'000'000;
  // A stack costs one to a few microseconds: together at most a tenth of the time.
  constexpr std::uint64_t k_stacks_per_look = 64;
  constexpr std::uint64_t k_most_looks_at_once = 8;
  const std::uint64_t now_ns = owner_.executor().now_ns();
  about_now_ = owner_.rough_now();
  const std::uint64_t looks = (now_ns - tended_ns_) / k_look_ns;
  if (looks == 0) return;
  tended_ns_ = now_ns;
  tended_ticks_ = about_now_;
  look_for_yields_in_vain(now_ns);
  const std::size_t most = std::min(looks, k_most_looks_at_once) * k_stacks_per_look;
  stacks_.tend(most);
  if (movable_ != nullptr) movable_->tend(most);
  for (const auto& stock : sized_)
    if (stock != nullptr) stock->pool.tend(most);
}

bool worker::may_give_back_stacks() const noexcept {
  const auto may = [](const fiber::stack_pool& pool) { return pool.idle() > pool.kept() || pool.may_shrink(); };
  if (may(stacks_) || !ended_elsewhere_.empty() || (movable_ != nullptr && may(*movable_))) return true;
  return std::ranges::any_of(sized_, [&may](const auto& stock) { return stock != nullptr && may(stock->pool); });
}

void worker::give_back_stacks() noexcept {
  const auto give_back = [](fiber::stack_pool& pool) {
    pool.trim(pool.kept(), pool.idle());
    pool.shrink();
  };
  give_back(stacks_);
  if (movable_ != nullptr) {
    collect_movable();
    give_back(*movable_);
  }
  for (const auto& stock : sized_)
    if (stock != nullptr) give_back(stock->pool);
}

}  // namespace shoal::sched

namespace shoal::detail {

void refuse_stack_bytes(std::size_t bytes) {
  throw error(errc::invalid_argument,
              fmt::format("a task asks for a stack of {} bytes, and {} are the most; keep large objects in vectors, or "
                          "make the recursion a loop with a stack of its own on the heap",
                          bytes, fiber::stack_classes::k_most_bytes));
}

void call_on_stack(std::size_t bytes, void (*function)(void*) noexcept, void* argument) {
  static_cast<sched::worker&>(worker_here()).call_on_stack(bytes, function, argument);
}

}  // namespace shoal::detail
