// SPDX-License-Identifier: Apache-2.0
// A parallel loop within one process: the body, how many pieces of its range are out, and who is told at the end.
// Who may call: loop_frame belongs to the stack that runs it; loop_state is shared by the workers of the node.
// How: a worker goes through its range in chunks from the front. When its deque is empty it puts the far half there
// (lazy binary splitting: Tzannes et al., PPoPP 2010), so that ranges are split only as often as somebody may want half.
// When an iteration waits, what is left of the range goes to the deque and the waiting stack keeps one iteration.
// Shown by tests/unit/sched/loop_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "shoal/detail/worker.hpp"

namespace shoal::detail {

struct loop_state;

struct loop_frame {
  std::uint64_t next;   // the iteration to begin next
  std::uint64_t limit;  // of the chunk
  std::uint64_t end;
  loop_frame* outer;
  loop_state* loop;
};

using chunk_function = void (*)(const void* body, loop_frame& frame);

/// Runs the chunk. If an iteration waits, the frame is cut behind it and the loop ends when the iteration does.
template <class F>
void run_chunk(const void* body, loop_frame& frame) {
  const F& f = *static_cast<const F*>(body);
  while (frame.next < frame.limit) {
    const std::uint64_t i = frame.next++;
    f(i);
  }
}

struct loop_state {
  const void* body = nullptr;
  chunk_function chunk = nullptr;
  std::uint64_t grain = 1;
  bool outermost = false;                            // its new iterations wait when too many tasks do
  void (*finished)(loop_state&) noexcept = nullptr;  // on whichever worker ends last; may not switch

  std::atomic<std::int64_t> pieces{1};          // partners: every worker that holds a piece
  std::atomic<std::uint64_t> async_workers{0};  // bit i: worker i mod 64 has begun asynchronous operations
  std::atomic<bool> failed{false};
  std::exception_ptr exception;  // of the first iteration that threw; valid once `finished`
};

/// Whether the running task is no part of any loop: the main task, and what is begun as one (spmd). Only the iterations
/// of loops begun there wait when too many tasks do, so that nested work always proceeds.
bool is_outermost() noexcept;
void set_outermost(bool outermost) noexcept;

/// A chunk that makes some thirty per worker, so that the last ones even out.
std::uint64_t default_grain(std::uint64_t iterations, unsigned workers) noexcept;

/// Runs [begin, end) on this worker, offering halves to others, as one piece of `loop`. Switches if the body does.
void run_piece(loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept;
/// Offers [begin, end) as one (already counted) piece of `loop` to this worker's loop and to thieves.
void spawn_piece(worker_face& w, loop_state& loop, std::uint64_t begin, std::uint64_t end);

/// A loop whose caller waits on this node. Switches only if something of it is not done when the caller has no more.
void run_loop_here(loop_state& loop, std::uint64_t begin, std::uint64_t end);

}  // namespace shoal::detail
