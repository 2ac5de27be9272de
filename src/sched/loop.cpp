// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/loop.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::detail {
namespace {

struct piece_task final : task {
  loop_state* loop = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

void run_piece_task(task& t) noexcept {
  auto& piece = static_cast<piece_task&>(t);
  if (sched::this_worker()->defer_if_full(*piece.loop, t)) return;
  const piece_task copy = piece;
  deallocate(*t_worker, &piece, sizeof piece);
  run_piece(*copy.loop, copy.begin, copy.end);
}

// One worker's wish that its asynchronous operations complete before the loop counts as finished.
struct loop_fence final : sched::errand, sched::fence_request {
  loop_state* loop = nullptr;
};

void one_fence_less(loop_state& loop) noexcept {
  if (loop.pieces.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  fiber::acquire_from(&loop);
  loop.finished(loop);
}

void end_fence(loop_fence* f) noexcept {
  loop_state& loop = *f->loop;
  delete f;
  fiber::release_to(&loop);
  one_fence_less(loop);
}

// The last piece has ended, here. Operations that iterations began on this and other workers may still be on their way.
void fence_workers(sched::worker& w, loop_state& loop) noexcept {
  const std::uint64_t mask = loop.async_workers.exchange(0, std::memory_order_acq_rel);
  sched::pool& pool = w.owner();
  std::int64_t fences = 0;
  for (unsigned i = 0; i < pool.size(); ++i) fences += static_cast<std::int64_t>(mask >> (i % 64) & 1);
  loop.pieces.store(fences, std::memory_order_release);
  for (unsigned i = 0; i < pool.size(); ++i) {
    if ((mask >> (i % 64) & 1) == 0) continue;
    auto* f = new loop_fence;
    f->loop = &loop;
    f->done = [](sched::fence_request& r) noexcept { end_fence(&static_cast<loop_fence&>(r)); };
    f->run = [](task& t) noexcept {
      auto& self = static_cast<loop_fence&>(static_cast<sched::errand&>(t));
      auto& here = *sched::this_worker();
      if (here.owner().above().fence(here, self)) end_fence(&self);
    };
    pool.at(i).give_errand(*f);  // to this worker too: what lies in its deque a thief may take
  }
}

void piece_done(loop_state& loop) noexcept {
  fiber::release_to(&loop);
  if (loop.pieces.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  fiber::acquire_from(&loop);
  if (loop.async_workers.load(std::memory_order_acquire) != 0)
    fence_workers(*sched::this_worker(), loop);
  else
    loop.finished(loop);
}

struct loop_here final : loop_state {
  suspended* caller = nullptr;
  // Whether one of the two, the caller at its end and `finished`, has been here; partner of each: the other. The loop is
  // gone once the second has.
  std::atomic<bool> met{false};
};

}  // namespace

bool is_outermost() noexcept { return t_worker != nullptr && sched::this_worker()->current()->outermost; }
void set_outermost(bool outermost) noexcept { sched::this_worker()->current()->outermost = outermost; }

std::uint64_t default_grain(std::uint64_t iterations, unsigned workers) noexcept {
  constexpr std::uint64_t k_pieces_per_worker = 32;
  constexpr std::uint64_t k_most = 1024;  // between two looks at the messages
  return std::clamp<std::uint64_t>(iterations / (k_pieces_per_worker * workers), 1, k_most);
}

void spawn_piece(worker_face& w, loop_state& loop, std::uint64_t begin, std::uint64_t end) {
  auto* piece = new (allocate(w, sizeof(piece_task))) piece_task;
  piece->run = run_piece_task;
  piece->loop = &loop;
  piece->begin = begin;
  piece->end = end;
  spawn(w, *piece);
}

void run_piece(loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept {
  auto& w = *sched::this_worker();
  loop_frame frame{begin, begin, end, nullptr, &loop};
  fiber::fiber& stack = *w.current();
  bool outermost = false;
  std::uint64_t async_before = 0;
  {
    const fiber::unwatched quiet;  // the worker's own state, which all its stacks touch in turn
    frame.outer = std::exchange(w.frames, &frame);
    outermost = std::exchange(stack.outermost, false);
    async_before = *w.async_issued;
    if (loop.outermost) w.begin_outermost();
  }
  while (frame.next < frame.end) {
    if (loop.failed.load(std::memory_order_relaxed)) break;
    const std::uint64_t left = frame.end - frame.next;
    if (w.siblings > 1 && left > loop.grain && w.tasks.seems_empty()) {
      const std::uint64_t middle = frame.next + left / 2;
      loop.pieces.fetch_add(1, std::memory_order_relaxed);
      spawn_piece(w, loop, middle, frame.end);
      frame.end = middle;
    }
    frame.limit = frame.next + std::min(loop.grain, frame.end - frame.next);
    try {
      loop.chunk(loop.body, frame);
    } catch (...) {
      if (!loop.failed.exchange(true, std::memory_order_acq_rel)) loop.exception = std::current_exception();
    }
    w.poll();
    if (w.owner().urgent()) [[unlikely]]
      w.yield();
  }
  bool issued = false;
  {
    const fiber::unwatched quiet;
    stack.outermost = outermost;
    w.frames = frame.outer;
    issued = *w.async_issued != async_before;
    if (loop.outermost) w.end_outermost();
  }
  if (issued) loop.async_workers.fetch_or(std::uint64_t{1} << (w.index % 64), std::memory_order_relaxed);
  piece_done(loop);
}

void run_loop_here(loop_state& shared, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  loop_here loop;
  loop.body = shared.body;
  loop.chunk = shared.chunk;
  loop.grain = shared.grain;
  loop.outermost = is_outermost();
  loop.caller = this_task();
  loop.finished = [](loop_state& l) noexcept {
    auto& self = static_cast<loop_here&>(l);
    suspended* const waiting = self.caller;
    if (self.met.exchange(true, std::memory_order_acq_rel)) wake(waiting);
  };
  run_piece(loop, begin, end);
  if (!loop.met.exchange(true, std::memory_order_acq_rel)) leave();
  if (loop.exception) std::rethrow_exception(loop.exception);
}

}  // namespace shoal::detail
