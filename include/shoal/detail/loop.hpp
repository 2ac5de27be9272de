// SPDX-License-Identifier: Apache-2.0
// A parallel loop within one process: its body, the number of unfinished pieces of its range, and the call at its end.
// Who may call: loop_frame belongs to the stack that runs it; loop_state is shared by the workers of the node.
// How: a worker goes through its range in chunks from the front. When its deque is empty it puts the far half there
// (lazy binary splitting: Tzannes et al., PPoPP 2010), so that ranges are split only as often as somebody may want
// half. When an iteration waits, what is left of the range goes to the deque and the waiting stack keeps one iteration.
// A loop that adapts goes through a chunk in steps. Chunks and steps take about a constant time each: the worker reads
// the clock once per chunk, and between two steps it looks only at whether a thief has found nothing here.
// Positions count from 0; the piece function maps them to iterations or tiles (loop_space.hpp).
// Shown by tests/unit/sched/loop_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

#include "shoal/detail/scope.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

struct loop_state;

/// A type of its own, which no data of the program has: the compiler knows that stores of a loop's body do not change a
/// frame, and keeps `next` in a register unless the body calls something that might wait.
enum class position : std::uint64_t {};
constexpr std::uint64_t number(position p) noexcept { return static_cast<std::uint64_t>(p); }

struct loop_frame {
  position next;   // to begin next
  position limit;  // of the step
  position end;
  loop_frame* outer;
  loop_state* loop;
  bool begun = false;
  // Of a loop that adapts; otherwise a chunk is one step, and chunk_end stays behind `next`.
  position chunk_end{};
  std::uint64_t chunk = 0;        // positions of the chunk; 0: none has been timed
  std::uint64_t step = 1;         // positions that may start before `hungry` is read again
  std::uint64_t chunk_start = 0;  // when the chunk began, in ticks
};

/// Runs all steps that next_chunk() gives. Whatever begins an iteration has moved `next` behind it before: if the
/// iteration waits, the frame is cut there (next == limit == end), and the piece ends when the iteration does.
using piece_function = void (*)(const void* body, loop_frame& frame);

/// Begins a chunk: serves messages, gives way to urgent tasks (then it switches), and offers half of the rest to others
/// if nothing else of this worker can be stolen. False if no position is left or the loop is over.
bool begin_chunk(loop_frame& frame) noexcept;

/// Gives the frame its next step, of this chunk or of the next one; false if there is none.
inline bool next_chunk(loop_frame& frame) noexcept {
  // A thief that finds nothing (partner: worker::steal) ends the chunk here: the rest of the range may be split.
  if (frame.next == frame.limit && frame.limit < frame.chunk_end && frame.limit < frame.end &&
      !t_worker->hungry_thief.load(std::memory_order_relaxed)) {
    const std::uint64_t left = number(frame.chunk_end) - number(frame.limit);
    frame.limit = position{number(frame.limit) + (frame.step < left ? frame.step : left)};
    return true;
  }
  return begin_chunk(frame);
}

struct loop_state {
  const void* body = nullptr;
  piece_function piece = nullptr;
  std::uint64_t grain = 1;                           // positions per chunk, at most
  std::uint64_t least = 1;                           // positions per step, at least, if the loop adapts
  bool adapts = false;                               // chunks and steps follow the time that positions take
  std::uint64_t unit = 1;                            // of tiled loops: positions per tile
  std::size_t stack_bytes = 0;                       // that each piece asks for; 0: none
  bool tiled = false;                                // chunks stay in one tile; only adapting loops split tiles
  bool divisible = true;                             // may be offered to thieves
  bool outermost = false;                            // its new iterations wait when too many tasks do
  const std::stop_token* stop = nullptr;             // begins nothing more once asked
  const shoal::detail::scope* scope = nullptr;       // of its iterations, which ask it
  void (*finished)(loop_state&) noexcept = nullptr;  // on whichever worker ends last; may not switch
  /// Takes care of [next, end) of a frame whose iteration waits; nullptr: it is offered as a piece.
  void (*cut)(worker_base&, loop_frame&) noexcept = nullptr;

  std::atomic<std::int64_t> pieces{1};          // partners: every worker that holds a piece
  std::atomic<std::uint64_t> async_workers{0};  // bit i: worker i mod 64 has begun asynchronous operations
  std::atomic<bool> failed{false};
  std::exception_ptr exception;  // of the first iteration that threw; valid once `finished`

  bool over() const noexcept { return failed.load(std::memory_order_relaxed) || stop_requested_of(stop, scope); }
};

class affinity_map;

/// A loop whose caller waits on this node.
struct local_loop final : loop_state {
  suspended* caller = nullptr;
  affinity_map* map = nullptr;  // of a loop with affinity
  // Whether one of the two, the caller at its end and `finished`, has been here; partner of each: the other. The loop
  // is gone once the second has.
  std::atomic<bool> met{false};
};

/// Whether the running task is no part of any loop: the main task, and what is begun as one (spmd). Only the iterations
/// of loops begun there wait when too many tasks do, so that nested work always proceeds.
bool is_outermost() noexcept;
/// Whether the running task is an iteration of a loop that was begun there.
bool is_outermost_iteration() noexcept;
void set_outermost(bool outermost) noexcept;

/// A chunk that makes some thirty per worker, so that the last ones even out; no more than `most`, since between two
/// chunks the worker polls for messages.
inline constexpr std::uint64_t k_longest_chunk = 1024;
inline constexpr std::uint64_t k_longest_part = 16384;  // for bodies with loops of their own
/// For loops that adapt. More than k_longest_chunk only of iterations that have taken no time so far.
inline constexpr std::uint64_t k_longest_adaptive_chunk = 4096;
std::uint64_t default_grain(std::uint64_t iterations, unsigned workers, std::uint64_t most = k_longest_chunk) noexcept;

/// Runs [begin, end) on this worker, offering halves to others, as one (already counted) piece of `loop`. Switches if
/// the body does.
void run_piece(loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept;
/// Offers [begin, end) as one (already counted) piece of `loop` to this worker's loop and to thieves.
void spawn_piece(worker_base& w, loop_state& loop, std::uint64_t begin, std::uint64_t end);

/// For pieces of loops whose iterations are movable: calls `body` for `t`, which it copies to its own stack before it
/// waits. Returns when that has ended, or waits where it may continue elsewhere.
void begin_iteration(loop_frame& frame, task& t, task::function body) noexcept;
/// At the end of such an iteration; `thrown` or null.
void end_iteration(loop_state& loop, std::exception_ptr thrown) noexcept;

/// Whether `t` is a piece of a loop that can be divided again.
bool can_be_split(const task& t) noexcept;

/// What a loop's positions are cut into at its beginning: part k of `parts`, nearly equal, or tile k of a tiled loop.
struct loop_parts {
  std::uint64_t size;
  std::uint64_t parts;
  bool tiled;
  std::uint64_t unit;
  constexpr std::uint64_t begin(std::uint64_t k) const noexcept {
    return tiled ? k * unit : size / parts * k + size % parts * k / parts;
  }
  constexpr std::uint64_t end(std::uint64_t k) const noexcept { return begin(k + 1); }
};

// Each runs the loop and returns when all of it is done; rethrows the first exception. Switches only if something of it
// is not done when the caller has no more.
/// Split on demand.
void run_loop_here(local_loop& loop, std::uint64_t begin, std::uint64_t end);
/// Part k on worker k and nowhere else.
void run_loop_static(local_loop& loop, std::uint64_t size);
/// Parts on the workers that `map` names; `map` records where they ran.
void run_loop_affinity(local_loop& loop, affinity_map*& map, std::uint64_t size, std::uint64_t parts);

}  // namespace shoal::detail
