// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/loop.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/rough_time.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/affinity_map.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/stack_bytes.hpp"

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
  sched::this_worker()->runs_code(reinterpret_cast<const void*>(copy.loop->piece));  // which names the loop's body
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
      if (here.owner().hooks().fence(here, self)) end_fence(&self);
    };
    pool.at(i).give_errand(*f);  // to this worker, too: a thief may take tasks from its deque
  }
}

void piece_done(loop_state& loop) noexcept {
  sched::note_end();
  fiber::release_to(&loop);
  if (loop.pieces.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  fiber::acquire_from(&loop);
  if (loop.async_workers.load(std::memory_order_acquire) != 0)
    fence_workers(*sched::this_worker(), loop);
  else
    loop.finished(loop);
}

// A share of a static loop, or what is left of one whose iteration waits.
struct placed_piece final : sched::placed_task {
  loop_state* loop = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

void run_placed_piece(task& t) noexcept {
  auto& piece = static_cast<placed_piece&>(static_cast<sched::placed_task&>(t));
  if (sched::this_worker()->defer_if_full(*piece.loop, t)) return;
  loop_state& loop = *piece.loop;
  const std::uint64_t begin = piece.begin;
  const std::uint64_t end = piece.end;
  deallocate(*t_worker, &piece, sizeof piece);
  run_piece(loop, begin, end);
}

placed_piece& make_placed_piece(worker_base& w, loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept {
  auto* piece = new (allocate(w, sizeof(placed_piece))) placed_piece;
  piece->run = run_placed_piece;
  piece->loop = &loop;
  piece->begin = begin;
  piece->end = end;
  return *piece;
}

void keep_exception(loop_state& loop, std::exception_ptr thrown) noexcept {
  if (!loop.failed.exchange(true, std::memory_order_acq_rel)) loop.exception = std::move(thrown);
}

void note_async(sched::worker& w, loop_state& loop) noexcept {
  loop.async_workers.fetch_or(std::uint64_t{1} << (w.index % 64), std::memory_order_relaxed);
}

void run_range_here(sched::worker& w, loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept {
  loop_frame frame{position{begin}, position{begin}, position{end}, nullptr, &loop};
  fiber::fiber& stack = *w.current();
  bool outermost = false;
  const scope* around = nullptr;
  std::uint64_t async_before = 0;
  const sched::known_as known(w.begun(), reinterpret_cast<const void*>(loop.piece), w.begun().node);
  {
    const fiber::tsan_ignore_scope ignore;  // the worker's own state, which all its stacks touch in turn
    frame.outer = std::exchange(w.frames, &frame);
    outermost = std::exchange(stack.outermost, false);
    async_before = *w.async_issued;
    around = std::exchange(w.scope, loop.scope);
    if (loop.outermost) w.begin_outermost();
  }
  try {
    loop.piece(loop.body, frame);
  } catch (...) {
    keep_exception(loop, std::current_exception());
  }
  bool issued = false;
  {
    const fiber::tsan_ignore_scope ignore;
    stack.outermost = outermost;
    w.frames = frame.outer;
    w.scope = around;
    issued = *w.async_issued != async_before;
    if (loop.outermost) w.end_outermost();
  }
  if (issued) note_async(w, loop);
}

// A task that waits for a stack must not have a frame yet: the part that the wait cuts off would wait for a stack, too.
void run_range(sched::worker& w, loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept {
  if (loop.stack_bytes == 0) [[likely]]
    return run_range_here(w, loop, begin, end);
  try {
    call_with_stack(stack_bytes(loop.stack_bytes), [&] { run_range_here(w, loop, begin, end); });
  } catch (...) {  // there is no such stack
    keep_exception(loop, std::current_exception());
  }
}

// Somebody may want it: nothing else of this worker's can be stolen.
[[gnu::noinline]] void offer_half(worker_base& w, loop_frame& frame) noexcept {
  loop_state& loop = *frame.loop;
  const std::uint64_t next = number(frame.next);
  const std::uint64_t end = number(frame.end);
  std::uint64_t middle = next + (end - next) / 2;
  if (loop.tiled) {
    const std::uint64_t tile_begin = middle - middle % loop.unit;
    if (tile_begin > next)
      middle = tile_begin;
    else if (!loop.adapts)
      return;
  }
  if (middle <= next) return;
  loop.pieces.fetch_add(1, std::memory_order_relaxed);
  spawn_piece(w, loop, middle, end);
  frame.end = position{middle};
}

// All that is left becomes a piece for others, on a worker that is not active.
[[gnu::noinline]] void give_up_rest(worker_base& w, loop_frame& frame) noexcept {
  frame.loop->pieces.fetch_add(1, std::memory_order_relaxed);
  spawn_piece(w, *frame.loop, number(frame.next), number(frame.end));
  frame.limit = frame.end = frame.next;
}

// What chunks and steps are to take, in ticks.
constexpr std::uint64_t k_chunk_time = 4000 * base::rough_time::k_per_ns;
constexpr std::uint64_t k_step_time = 100 * base::rough_time::k_per_ns;
constexpr std::uint64_t k_step_time_of_box =
    1600 * base::rough_time::k_per_ns;         // each step finds its place in the tile by divisions
constexpr std::uint64_t k_fastest_growth = 8;  // of a chunk over the one before

// How many of `done` positions, which took `took`, take `wanted`; at most k_fastest_growth times as many.
std::uint64_t positions_in(std::uint64_t wanted, std::uint64_t done, std::uint64_t took) noexcept {
  return took * k_fastest_growth <= wanted ? done * k_fastest_growth : done * wanted / took;
}

// The size of the next chunk and of its steps, from the time that the last one took.
void adapt_chunk(sched::worker& w, loop_frame& frame, const loop_state& loop, std::uint64_t done) noexcept {
  w.owner().charge(machine::work::iteration, done);
  const std::uint64_t now = w.owner().rough_now();
  if (done == 0) {
    frame.chunk = frame.step = loop.least;
  } else {
    const std::uint64_t took = now - frame.chunk_start;
    frame.chunk = std::clamp(positions_in(k_chunk_time, done, took), loop.least, loop.grain);
    const std::uint64_t step = loop.tiled ? k_step_time_of_box : k_step_time;
    frame.step = std::clamp(positions_in(step, done, took), loop.least, loop.grain);
  }
  frame.chunk_start = now;
}

void begin_loop(sched::worker& w, local_loop& loop) noexcept {
  w.expect_other_work();
  take_turn(w);
  loop.outermost = w.current()->outermost;
  loop.scope = w.scope;
  loop.caller = reinterpret_cast<suspended*>(w.current());
  loop.finished = [](loop_state& l) noexcept {
    auto& self = static_cast<local_loop&>(l);
    suspended* const waiting = self.caller;
    if (self.met.exchange(true, std::memory_order_acq_rel)) wake(waiting);
  };
}

// The caller's part is done: it takes back pieces that no thief has taken, and waits for the rest.
void join_loop(sched::worker& w, local_loop& loop) {
  for (;;) {
    // Partner: piece_done() elsewhere. Whoever has a piece may add some; if the caller's is the only one it is the
    // last.
    if (loop.pieces.load(std::memory_order_acquire) == 1 && loop.async_workers.load(std::memory_order_relaxed) == 0) {
      fiber::acquire_from(&loop);
      break;
    }
    take_turn(w);  // before a piece is taken: nobody could steal it while others run
    // On an inactive worker the rest is for others.
    if (task* t = w.has_room() && w.owner().is_active(w.index) ? unspawn_of(w, &loop) : nullptr) {
      run_piece_task(*t);  // or puts it aside
      continue;
    }
    piece_done(loop);
    if (!loop.met.exchange(true, std::memory_order_acq_rel)) leave(wait_kind::loop, &loop);
    break;
  }
  if (loop.exception) std::rethrow_exception(loop.exception);
}

}  // namespace

bool is_outermost() noexcept { return t_worker != nullptr && sched::this_worker()->current()->outermost; }
void set_outermost(bool outermost) noexcept { sched::this_worker()->current()->outermost = outermost; }

bool is_outermost_iteration() noexcept {
  const sched::worker& w = *sched::this_worker();
  if (w.frames != nullptr) return w.frames->loop->outermost;
  const sched::movable_frame* const f = sched::movable_here(w);
  return f != nullptr && f->outermost;
}

std::uint64_t default_grain(std::uint64_t iterations, unsigned workers, std::uint64_t most) noexcept {
  constexpr std::uint64_t k_pieces_per_worker = 32;
  if (iterations < 2 * k_pieces_per_worker * workers) return 1;
  return std::clamp<std::uint64_t>(iterations / (k_pieces_per_worker * workers), 1, most);
}

bool can_be_split(const task& t) noexcept {
  if (t.run != run_piece_task) return false;
  const auto& piece = static_cast<const piece_task&>(t);
  const std::uint64_t whole = piece.loop->adapts ? piece.loop->least : std::max(piece.loop->grain, piece.loop->unit);
  return piece.loop->divisible && piece.end - piece.begin > whole;
}

void spawn_piece(worker_base& w, loop_state& loop, std::uint64_t begin, std::uint64_t end) {
  auto* piece = new (allocate(w, sizeof(piece_task))) piece_task;
  piece->run = run_piece_task;
  piece->group = &loop;
  piece->loop = &loop;
  piece->begin = begin;
  piece->end = end;
  spawn(w, *piece);
}

void run_piece(loop_state& loop, std::uint64_t begin, std::uint64_t end) noexcept {
  run_range(*sched::this_worker(), loop, begin, end);
  piece_done(loop);
}

void begin_iteration(loop_frame& frame, task& t, task::function body) noexcept {
  auto& w = *sched::this_worker();
  w.begin_movable(t, body, frame.loop);
  fiber::acquire_from(&t);
  if (frame.loop->outermost) w.hold_back_if_full();
}

// Until the piece that began it has ended, that stands for the iteration, too.
void end_iteration(loop_state& loop, std::exception_ptr thrown) noexcept {
  if (thrown != nullptr) keep_exception(loop, std::move(thrown));
  fiber::release_to(&loop);
  const fiber::tsan_ignore_scope ignore;  // the worker's own state
  sched::worker& w = sched::worker_now();
  const sched::movable_frame* const f = sched::movable_here(w);
  // Without a stack of its own it may have run on that of an iteration of another loop.
  if (f == nullptr || f->loop != &loop || !f->counted) return;
  if (*w.async_issued != f->issued) note_async(w, loop);
  piece_done(loop);
}

bool begin_chunk(loop_frame& frame) noexcept {
  auto& w = *sched::this_worker();
  const loop_state& loop = *frame.loop;
  const bool begun = std::exchange(frame.begun, true);
  // The chunk began `chunk` positions before its end, or ended early for a hungry thief.
  if (loop.adapts) {
    const std::uint64_t start = number(frame.chunk_end) - frame.chunk;
    // A box skips the positions after the last point of a tile: they may be after the end of the chunk.
    adapt_chunk(w, frame, loop, begun && frame.chunk != 0 ? std::min(number(frame.next) - start, frame.chunk) : 0);
  }
  if (begun) {
    if (!loop.adapts) w.owner().charge(machine::work::iteration, loop.grain);
    w.poll();
    take_turn(w);
  }
  const std::uint64_t next = number(frame.next);
  if (next >= number(frame.end)) return false;
  if (loop.over()) {
    // The rest must not run: a later wait (of a reduction, for its sum) would offer it again.
    frame.next = frame.limit = frame.end;
    return false;
  }
  if (begun && loop.divisible && !w.owner().is_active(w.index)) [[unlikely]] {
    give_up_rest(w, frame);
    return false;
  }
  const std::uint64_t whole = loop.adapts ? frame.step : std::max(loop.grain, loop.unit);
  if (loop.divisible && w.siblings > 1 && number(frame.end) - next > whole && w.tasks.seems_empty()) [[unlikely]]
    offer_half(w, frame);
  if (loop.adapts) {
    w.hungry_thief.store(false, std::memory_order_relaxed);  // partner: worker::steal
    frame.chunk = std::min(frame.chunk, number(frame.end) - next);
    if (loop.tiled) frame.chunk = std::min(frame.chunk, loop.unit - next % loop.unit);
    frame.chunk_end = position{next + frame.chunk};
    frame.limit = w.siblings > 1 ? position{next + std::min(frame.step, frame.chunk)} : frame.chunk_end;
    return true;
  }
  std::uint64_t limit = next + std::min(loop.grain, number(frame.end) - next);
  if (loop.tiled) limit = std::min(limit, next - next % loop.unit + loop.unit);
  frame.limit = position{limit};
  return true;
}

void run_loop_here(local_loop& loop, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto& w = *sched::this_worker();
  begin_loop(w, loop);
  run_range(w, loop, begin, end);
  join_loop(w, loop);
}

void run_loop_static(local_loop& loop, std::uint64_t size) {
  auto& w = *sched::this_worker();
  begin_loop(w, loop);
  sched::pool& pool = w.owner();
  const loop_parts shares{size, pool.size(), loop.tiled, loop.unit};
  loop.divisible = false;
  loop.cut = [](worker_base& here, loop_frame& frame) noexcept {
    const std::uint64_t from = number(frame.next);
    const std::uint64_t to = number(frame.end);
    frame.limit = frame.end = frame.next;
    if (from >= to) return;
    frame.loop->pieces.fetch_add(1, std::memory_order_relaxed);
    static_cast<sched::worker&>(here).keep(make_placed_piece(here, *frame.loop, from, to));
  };
  for (unsigned i = 0; i < pool.size(); ++i) {
    if (i == w.index || shares.begin(i) == shares.end(i)) continue;
    loop.pieces.fetch_add(1, std::memory_order_relaxed);
    pool.at(i).place(make_placed_piece(w, loop, shares.begin(i), shares.end(i)));
  }
  run_range(w, loop, shares.begin(w.index), shares.end(w.index));
  join_loop(w, loop);
}

void run_loop_affinity(local_loop& loop, affinity_map*& map, std::uint64_t size, std::uint64_t parts) {
  auto& w = *sched::this_worker();
  begin_loop(w, loop);
  affinity_map& placement = affinity_map::ready(map, w.owner(), parts);
  loop.divisible = false;
  loop.cut = [](worker_base& here, loop_frame& frame) noexcept {
    const std::uint64_t from = number(frame.next);
    const std::uint64_t to = number(frame.end);
    frame.limit = frame.end = frame.next;
    if (from < to) {
      frame.loop->pieces.fetch_add(1, std::memory_order_relaxed);
      spawn_piece(here, *frame.loop, from, to);
    }
    static_cast<local_loop&>(*frame.loop).map->summon(here.index);  // for the other blocks of this worker
  };
  const affinity_map::use in_use(placement);
  loop.map = &placement;
  loop.pieces.store(static_cast<std::int64_t>(parts) + 1, std::memory_order_relaxed);
  placement.begin(loop, {size, parts, loop.tiled, loop.unit}, w);
  placement.serve(w.index);
  join_loop(w, loop);
}

}  // namespace shoal::detail
