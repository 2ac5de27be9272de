// SPDX-License-Identifier: Apache-2.0
// A worker: one thread that runs tasks. Its loop runs on some stack, and calls tasks as functions. A task that waits
// keeps that stack; the worker continues on the stack of a runnable task, or with a new loop on a fresh stack. When the
// task is runnable again, a loop switches to it and gives its own stack back. So a task that never waits needs neither
// a stack nor a switch.
// Who may call: its own thread, but for make_ready(), ring(), give_errand(), place(), and the statistics after
// pool::run().
// Guarantees: a started task stays on its worker unless movable; blocked tasks are not polled; tasks that yield to each other do not
// starve tasks that have not begun; errno is kept over a wait. Idle workers block on a futex.
// Tests: tests/unit/sched/worker_test.cpp, tests/stress/sched_test.cpp, model: tests/model/parking_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/rough_time.hpp"
#include "fiber/fiber.hpp"
#include "fiber/stack_classes.hpp"
#include "fiber/stack_pool.hpp"
#include "lockfree/doorbell.hpp"
#include "lockfree/inbox.hpp"
#include "machine/signals.hpp"
#include "sched/block_depot.hpp"
#include "sched/cycle_search.hpp"
#include "sched/profile_recorder.hpp"
#include "sched/ready_queue.hpp"
#include "sched/started.hpp"
#include "sched/worker_timers.hpp"
#include "shoal/detail/loop.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/steal_policy.hpp"

namespace shoal::sched {

class pool;

struct stack_call;
struct movable_call;
struct movable_frame;
struct movable_guest;
struct waiting_task;

class worker final : public detail::worker_base {
public:
  worker(pool& owner, unsigned number, std::size_t most_waiting);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  /// The thread's body: runs tasks until the pool stops.
  void run_thread() noexcept;
  /// What it begins with, before anything can be stolen. Before run_thread().
  void begin_with(detail::task& t) noexcept { first_ = &t; }

  // --- for the running task ---
  /// Suspends the running task. Returns the word given to make_ready_here(); 0 if the task was made runnable otherwise.
  std::uint64_t leave() noexcept;
  /// The same; it waits, as reports say.
  std::uint64_t leave(detail::wait_kind why, const void* object = nullptr) noexcept;
  /// Around a wait that a thread from outside may end.
  void wait_from_outside(int n) noexcept {
    outside_waits_.store(outside_waits_.load(std::memory_order_relaxed) + static_cast<unsigned>(n),
                         std::memory_order_relaxed);
  }
  void yield() noexcept;
  /// The slow path of detail::take_turn(): the turns are used up.
  void let_others_run() noexcept;
  /// Pieces of work of another kind begin: looks at the clock soon, however short those before were.
  void expect_other_work() noexcept {
    const fiber::tsan_ignore_scope ignore;
    turns_between_looks_ = std::min(turns_between_looks_, k_first_turns);
    turns = std::min(turns, turns_between_looks_ - 1);
  }
  /// Charges the budget for a task that the loop runs. False: return to the loop, which lets others run.
  bool spend_turn() noexcept {
    const fiber::tsan_ignore_scope ignore;
    return --turns >= 0 || has_budget();
  }
  /// Whether the current stack has room for more than the frames of the runtime: for a child that runs inline, whose
  /// own children may run inline in turn, or for handlers of messages. If not, the caller waits instead, and a loop runs
  /// them on another stack.
  bool has_room() const noexcept { return static_cast<const std::byte*>(__builtin_frame_address(0)) >= room_bottom(); }
  /// The lowest address of the current stack at which it has room.
  const std::byte* room_bottom() const noexcept {
    // The notes of a stack of a requested size are its caller's.
    const std::byte* const bottom = current_ == &native_        ? native_bottom_
                                    : current_->size_class == 0 ? current_->notes->bottom
                                                                : bottom_for_children();
    return bottom + inline_bytes_;
  }
  /// Serves messages; called by loops between chunks and by programs that compute for long.
  bool poll() noexcept;
  /// Calls `function` with at least `bytes` free bytes of stack: on the current stack, or on another one, for this call
  /// alone. Throws shoal::error, before `function` is called, if there is no such stack.
  void call_on_stack(std::size_t bytes, void (*function)(void*) noexcept, void* argument);
  /// For a task that is about to wait until `missing` is 0: looks for messages and errands for a short time, as long as no
  /// other task could run here. True: `missing` is 0.
  bool look_in_place(const std::size_t& missing) noexcept;
  fiber::fiber* current() noexcept { return current_; }
  const fiber::fiber* running() const noexcept { return current_; }
  /// In place of a size class: a stack on which a movable task runs, of ordinary size.
  static constexpr std::uint8_t k_movable = 255;
  /// Calls `body` for `t` on a stack of its own, from which it may go on on another worker (movable.hpp). `of`: the loop
  /// of which it is an iteration, or nullptr.
  void begin_movable(detail::task& t, detail::task::function body, detail::loop_state* of) noexcept;
  void count_iteration(movable_frame& f) noexcept;
  /// If too many iterations wait, those that the running piece has not begun wait until others have ended.
  void hold_back_if_full() noexcept {
    if (full()) cut_frames();
  }
  /// Continues such a task; returns when it has left again or ended.
  void host(fiber::fiber& f) noexcept;
  /// What fires runs between tasks and on stacks of waiting ones: it must not wait. The worker's own thread.
  worker_timers& timers() noexcept { return timers_; }
  /// A number for a wait that shows in its stack's notes.
  std::uint64_t next_wait() noexcept { return ++noted_waits_; }
  /// The searches for cycles among the waits of this worker's tasks. The worker's own thread.
  cycle_searches& searches() noexcept { return searches_; }
  /// What the current stack's loop has begun last.
  started& begun() const noexcept { return *static_cast<started*>(current_->notes->running); }
  /// What the running task executes, if its own code does not tell; nullptr: the main task.
  void runs_code(const void* code) noexcept {
    begun().code = code;
    if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
      p->names(code);
  }
  /// started::local of what runs, for another thread, which may read what is past.
  const void* local_of_running() const noexcept { return begun().local; }

  /// Makes a task of this worker runnable; its leave() returns `word`. On this worker's thread. Reads no stack.
  void make_ready_here(fiber::fiber& f, std::uint64_t word) noexcept {
    fiber::release_to(&f);
    ready_.push(&f, word);
  }

  /// The same; it continues as soon as the running task leaves.
  void make_next(fiber::fiber& f) noexcept {
    fiber::release_to(&f);
    ready_.push_front(&f);
  }

  /// Whether errands that others have given wait to be run.
  bool has_errands() const noexcept { return !mine_.empty() || !errands_.empty(); }
  /// How many tasks thieves find here, about. For any thread.
  std::size_t load() const noexcept { return tasks.size_estimate() + arrived_.size_estimate(); }
  /// Takes the oldest task that has not begun here, for another node; nullptr: there is none, or others are faster. Any
  /// thread.
  detail::task* give_up() noexcept;
  /// Adds a task from outside, and wakes a worker for it. May throw std::bad_alloc.
  void add_arrived(detail::task& t);

  // --- for any thread ---
  void make_ready(fiber::fiber& f) noexcept;
  void give_errand(errand& e) noexcept;
  void place(placed_task& t) noexcept;
  /// Wakes the worker if it is parked; call it after publishing the work. True if this call woke it.
  bool ring() noexcept;
  /// Odd while the worker sleeps; it changes with each sleep. Any thread (sched/stillness.hpp).
  std::uint64_t rests() const noexcept { return rests_.load(std::memory_order_seq_cst); }
  /// What it says of itself while it sleeps. Any thread.
  struct resting {
    bool rung = false;        // it wakes up already
    bool given = false;       // there is something that it, or a sibling, could begin
    bool starved = false;     // it has no stack for anything that has not begun
    bool holds_back = false;  // iterations that wait for others to end
    bool in_flight = false;   // messages, or a timer
    unsigned outside = 0;     // waits that a thread from outside may end
  };
  resting rest() noexcept;
  /// The tasks of this worker that wait, at most `most`; returns how many there are. The worker's own thread.
  std::size_t list_waits(std::vector<waiting_task>& into, std::size_t most);
  bool parked() const noexcept { return parked_.load(std::memory_order_relaxed); }
  /// How many iterations of outermost loops may wait here before others are held back.
  std::size_t most_waiting() const noexcept { return most_waiting_; }
  /// Whether its policy ever steals from that worker.
  bool reaches(unsigned victim) const noexcept { return reached_[victim]; }
  bool reaches_all() const noexcept { return unreached_ == 0; }

  /// Stores a task that only this worker may start, after all tasks in its deque; last in, first out.
  void keep(placed_task& t) noexcept;
  /// If too many pieces of outermost loops run or wait here: keeps `t`, such a piece, for later and returns true.
  bool defer_if_full(detail::loop_state& loop, detail::task& t) noexcept;
  void begin_outermost() noexcept { ++outermost_begun_; }
  void end_outermost() noexcept { --outermost_begun_; }
  /// At least this many pieces of outermost loops may run or wait here at once, however many other tasks wait.
  static constexpr std::size_t k_least_outermost = 16;

  /// The doorbell may be in memory shared with other processes. Call it before the thread starts.
  void use_doorbell(lockfree::doorbell<>& bell, bool shared_by_processes) noexcept;

  pool& owner() noexcept { return owner_; }

  /// When it has no free block of that size. May throw shoal::error (out_of_memory).
  void refill_blocks(bool large);

  /// The recorder of times and counts; null while no profile is wanted. For the worker, and the caller of
  /// set_profile().
  profile_recorder* profile() const noexcept { return profile_.load(std::memory_order_acquire); }
  void set_profile(profile_recorder* p) noexcept { profile_.store(p, std::memory_order_release); }
  /// Chooses the spawn to be timed: the `after`th from now on; `after` is at least 1. Only the worker's own thread.
  void time_next_spawn(std::uint64_t after) noexcept {
    spawn_start -= after + spawn_clock;
    spawn_clock = -after;
  }

  struct statistics {
    std::uint64_t run = 0;     // tasks begun from the loop
    std::uint64_t stolen = 0;  // of these, from siblings
    std::uint64_t left = 0;    // waits
    std::uint64_t parks = 0;
    std::uint64_t wakes = 0;         // sleepers that this worker's thread has woken: futex_wake
    std::uint64_t sleeps = 0;        // calls of futex_wait
    std::uint64_t heavy_fences = 0;  // membarriers before parking
    std::uint64_t yields = 0;        // processor given away while idle
  };
  const statistics& counts() const noexcept { return counts_; }
  std::size_t stacks_in_use() const noexcept { return stacks_.in_use(); }

  /// What the layer of handlers does when one is about to wait, which it must not: it ends the process and says so.
  void (*refuse_wait)(worker&, detail::wait_kind) noexcept = nullptr;

  /// Changes whenever the worker polls for messages; for the service activity.
  std::atomic<std::uint64_t> polls{0};

private:
  friend struct movable_frame;
  friend struct shoal::debug_offsets;  // of sched/debug_layout.cpp

  // What this worker's policy sees of the others.
  class deques_view final : public steal_view {
  public:
    deques_view(pool& owner, unsigned self);
    std::size_t load(unsigned victim) const noexcept override;

  private:
    pool& owner_;
  };

  // This worker's stacks of one size class, and the tasks that wait for one, first come first served.
  struct sized_stock {
    sized_stock(fiber::stack_region& region, worker* owner, fiber::entry_function entry, std::uint8_t size_class)
        : pool(region, owner, entry, size_class) {}
    fiber::stack_pool pool;
    std::deque<fiber::fiber*> waiting;
  };

  static void on_fresh_stack() noexcept;
  static void on_sized_stack() noexcept;
  static void on_movable_stack() noexcept;
  fiber::fiber* take_movable() noexcept;
  void take_back(fiber::fiber& f) noexcept;
  void put_movable(fiber::fiber& f) noexcept;
  void collect_movable() noexcept;
  const std::byte* bottom_for_children() const noexcept;
  const std::byte* stack_bottom(const fiber::fiber& f) const;
  fiber::fiber& take_sized(unsigned size_class);
  void tend_stacks() noexcept;
  bool may_give_back_stacks() const noexcept;
  void give_back_stacks() noexcept;
  void loop(fiber::fiber& self) noexcept;
  void run(detail::task& t, started& begun, profile_operation how = profile_operation::get,
           bool spawned = true) noexcept;
  void cut_frames() noexcept;
  fiber::fiber* take_loop() noexcept;
  // Switches stacks; returns when another stack switches back.
  [[gnu::always_inline]] void resume(fiber::fiber& self, fiber::fiber& next) noexcept {
    current_ = &next;
    fiber::switch_to(self, next, *exceptions_);
  }
  void hand_over(fiber::fiber& self, ready_queue::entry next) noexcept;
  bool take_inbox() noexcept;
  void make_ready_from_outside(fiber::fiber& f) noexcept;
  bool poll_once() noexcept;
  bool is_crowded() noexcept;
  bool yield_to_others() noexcept;
  bool has_budget() noexcept;
  bool has_polled() noexcept;
  bool anything_given() const noexcept;
  std::uint64_t look_at_clock() noexcept;
  detail::task* serve(profile_operation& how, bool bounded) noexcept;
  bool poll_timed(profile_recorder& profile) noexcept;
  std::uint64_t leave_with_more(bool waits, detail::wait_kind why, const void* object) noexcept;
  std::uint64_t leave_as(profile_recorder* profiled, bool waits, detail::wait_kind why, const void* object) noexcept;
  detail::task* next_own() noexcept;
  detail::task* next_given() noexcept;
  detail::task* take_arrived() noexcept;
  detail::task* next_apart() noexcept;
  detail::task* next_placed() noexcept;
  detail::task* next_kept() noexcept;
  void drop_placed() noexcept;
  void go_on_inactive(started& begun) noexcept;
  void sleep_inactive() noexcept;
  detail::task* steal() noexcept;
  bool idle(started& begun) noexcept;
  bool run_stolen(started& begun) noexcept;
  // Beyond the bound, seldom: those that have begun may wait, by yielding, for those that have not.
  bool may_interpose() const noexcept { return interposed_ < k_most_interposed || refused_ >= k_refusals; }
  void park(bool able) noexcept;
  void sleep() noexcept;
  void sleep_until_rung() noexcept;
  bool anything_to_do(bool able, bool in_deques) noexcept;
  void hand_search_on(bool plenty) noexcept;
  bool full() noexcept;
  void look_for_yields_in_vain(std::uint64_t now_ns) noexcept;
  bool deferred_may_begin() noexcept { return !deferred_.empty() && !full(); }
  void run_errands() noexcept;
  void wait_without_stack() noexcept;
  void check_before_leaving(detail::wait_kind why) noexcept;
  void drop_blocks() noexcept;
  static block_depot::chain* take_chains(block_depot& depot) noexcept;

  static constexpr std::int64_t k_until_trim_ns = 1'000'000'000;
  static constexpr std::uint64_t k_polls_per_tending = 16;
  // A thief takes several tasks from a deque that holds at least this many.
  static constexpr std::size_t k_many_tasks = 64;
  static constexpr std::size_t k_most_stolen = 32;
  static constexpr unsigned k_most_kept_chains = 8;  // of those that it takes from the depot
  static constexpr unsigned k_patience = 4;          // lost races, before a thief takes what another one has reserved
  // The progress budget. A worker that runs tasks inline, or switches among runnable ones, lets others run after
  // k_budget_ticks. It looks at the clock about once in k_look_ticks, and at least once in k_most_turns turns. A task of
  // its deque begins once in k_turns_of_others turns at least, and each k_serves_per_theft-th time a low or stolen one.
  static constexpr std::uint64_t k_budget_ticks = 10'000 * base::rough_time::k_per_ns;
  static constexpr std::uint64_t k_look_ticks = 2'000 * base::rough_time::k_per_ns;
  static constexpr int k_most_turns = 64;
  static constexpr int k_turns_of_others = 256;
  static constexpr unsigned k_serves_per_theft = 16;
  static constexpr unsigned k_most_interposed = 8;
  static constexpr unsigned k_refusals = 32;
  static constexpr std::uint64_t k_preempted_ns = 2'500'000;
  static constexpr std::uint64_t k_first_crowded_ns = 10'000'000;
  static constexpr std::uint64_t k_longest_crowded_ns = 100'000'000;
  static constexpr unsigned k_rounds_if_crowded = 4;
  enum class others : std::uint8_t { arrived, own };

  pool& owner_;
  fiber::exception_state* exceptions_ = nullptr;
  int* error_number_ = nullptr;  // where this thread has its errno, to be found without a call
  fiber::fiber* current_ = nullptr;
  std::uint64_t word_ = 0;  // for the task that is about to continue
  fiber::fiber native_;     // the thread's own stack
  fiber::stack_notes& native_notes_;
  const std::byte* native_bottom_ = nullptr;
  bool native_idle_ = false;     // it is suspended in its loop
  std::uint64_t about_now_ = 0;  // in ticks: not much before now, for tasks that begin to wait
  std::uint64_t served_ = 0;     // when others could run, in ticks
  std::uint64_t looked_ = 0;     // at the clock
  std::uint64_t polls_seen_ = 0;
  worker_timers timers_;
  int turns_between_looks_ = k_first_turns;
  int turns_of_others_ = 0;             // since tasks of the deque had their turn; no more than k_turns_of_others
  std::uint64_t crowded_until_ns_ = 0;  // other programs use this worker's processor
  std::uint64_t crowded_for_ns_ = 0;
  unsigned serves_ = 0;
  unsigned serves_of_own_ = 0;    // tasks of the deque
  unsigned interposed_ = 0;       // tasks that began while others had used up their budget, and have not ended
  unsigned refused_ = 0;          // times in a row that one was due and none began, because of k_most_interposed
  others due_ = others::arrived;  // what may begin when turns is k_due
  bool used_up_ = false;          // turns is k_due since the budget was used up, not since a task yielded
  bool arrived_first_ = false;    // before the tasks of the deque
  lockfree::deque<detail::task> arrived_{16};  // from outside; used first in, first out, also by thieves
  std::uint64_t noted_waits_ = 0;
  cycle_searches searches_;
  detail::task* first_ = nullptr;
  ready_queue ready_;
  fiber::stack_pool stacks_;
  const std::size_t inline_bytes_;                                                   // of has_room()
  std::array<std::unique_ptr<sized_stock>, fiber::stack_classes::k_classes> sized_;  // made on demand
  std::unique_ptr<fiber::stack_pool> movable_;  // stacks for movable tasks; made on demand
  const movable_call* movable_call_ = nullptr;  // for the stack that is about to begin it
  fiber::fiber* host_ = nullptr;                // of the movable task that is about to run
  std::uint64_t movables_begun_ = 0;            // on stacks of this worker
  movable_guest* guests_ = nullptr;             // the movable tasks that run here, or wait and stay
  lockfree::inbox<> ended_elsewhere_;  // stacks of this worker whose tasks ended on others. Partners: take_back()
  stack_call* call_ = nullptr;         // for the stack that is about to run it
  bool warned_of_sized_ = false;       // that a task waits for a stack of its size
  std::uint64_t tended_ns_ = 0;
  std::size_t most_waiting_;
  std::size_t outermost_begun_ = 0;      // pieces of outermost loops that run or wait here
  std::size_t outermost_moved_ = 0;      // iterations of such loops that left the pieces that began them, here
  std::vector<detail::task*> mine_;      // errands taken from the inbox
  placed_task* placed_first_ = nullptr;  // taken from the inbox, oldest first
  placed_task* placed_last_ = nullptr;
  placed_task* kept_ = nullptr;          // newest first
  bool warned_ = false;                  // that there is no stack left
  std::vector<detail::task*> deferred_;  // outermost ranges that may not begin iterations now
  std::uint64_t yields_since_ns_ = 0;    // since then nothing has begun here while iterations were held back
  std::uint64_t run_before_ = 0;         // counts_ at that time
  std::uint64_t left_before_ = 0;
  deques_view view_;
  std::unique_ptr<steal_policy> policy_;
  unsigned round_ = 0;         // its attempts, before the worker looks elsewhere
  unsigned unreached_ = 0;     // how many siblings it never tries
  unsigned robbed_ = 0;        // the victim of the last successful steal
  bool searching_ = false;     // woken to look for what others have published (lockfree/sleeper_map.hpp)
  std::vector<bool> reached_;  // the workers that its policy reaches, constant
  statistics counts_;
  block_slab slabs_[2]{block_slab(k_small_block_bytes), block_slab(k_block_bytes)};  // as `blocks`
  block_depot::chain* chains_[2]{};                                                  // taken from the pool's depots
  std::atomic<profile_recorder*> profile_{nullptr};  // partner: the profiler, which switches it
  machine::handler_stack for_signals_;

  lockfree::doorbell<> own_bell_;
  lockfree::doorbell<>* bell_ = &own_bell_;
  bool bell_shared_ = false;
  std::atomic<std::uint64_t> rests_{0};     // partner: stillness
  std::atomic<unsigned> outside_waits_{0};  // of tasks; a task may leave its share to another worker: the sum counts
  std::atomic<bool> starved_{false};        // what it says while it sleeps; partner: rest()
  std::atomic<bool> holds_back_{false};
  std::atomic<bool> parked_{false};  // for statistics and the service; partners: those who ask parked()
  lockfree::inbox<> woken_;          // partners: make_ready of other threads
  lockfree::inbox<> errands_;        // partners: give_errand
  lockfree::inbox<> placed_;         // partners: place
  std::uint64_t tended_ticks_ = 0;   // tended_ns_ by the other clock; for debuggers
};

inline worker* this_worker() noexcept { return static_cast<worker*>(detail::t_worker); }

/// Call it before another thread can learn that a task has ended here: it counts all spawns so far in the profile.
inline void note_end() noexcept {
  if (detail::t_worker == nullptr) return;
  if (profile_recorder* const p = this_worker()->profile(); p != nullptr) [[unlikely]] {
    const fiber::tsan_ignore_scope ignore;
    p->publish_spawned();
  }
}

}  // namespace shoal::sched
