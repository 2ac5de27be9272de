// SPDX-License-Identifier: Apache-2.0
// The workers of one node: starts and stops them, and keeps the map of parked workers. Upper layers (messages) are
// called through `pool_hooks`.
// Who may call: run, start and finish: the constructing thread, outside of tasks; submit, wake_one, stopping and stop:
// any thread, also inside a task.
// Guarantees: run() runs the main task on the calling thread, which is worker 0, and returns when the task has ended.
// Or: start() starts all workers as threads, submit() adds tasks, finish() ends the workers. Both wait for detached work
// (continuations of dropped futures); no other task may be left when a pool stops. A thread that has made its last task
// runnable may still be about to ring a worker: the pool's end waits for such threads. Tests: tests/unit/sched/pool_test.cpp, tests/stress/promise_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/rough_time.hpp"
#include "fiber/stack_classes.hpp"
#include "lockfree/detached_count.hpp"
#include "lockfree/sleeper_map.hpp"
#include "lockfree/waker_count.hpp"
#include "machine/executor.hpp"
#include "machine/rough_clock.hpp"
#include "sched/block_depot.hpp"
#include "sched/blocking_threads.hpp"
#include "sched/debug_layout.hpp"
#include "sched/lanes.hpp"
#include "sched/profiler.hpp"
#include "sched/steal_policies.hpp"
#include "sched/worker.hpp"
#include "sched/worker_map.hpp"

namespace shoal::sched {

/// A wish to know that all asynchronous operations begun by a worker so far are complete.
struct fence_request {
  void (*done)(fence_request&) noexcept = nullptr;  // on that worker, while it polls; may not switch
  /// Where pool_hooks::fence() keeps what it needs until then: a fence must not fail for lack of memory.
  static constexpr std::size_t k_room_bytes = 256;
  alignas(void*) std::array<std::byte, k_room_bytes> room;
};

/// What the layers above do for a worker, on its own thread. None may switch tasks or throw.
struct pool_hooks {
  virtual ~pool_hooks() = default;
  /// Executes messages that have arrived; true if there were any.
  virtual bool poll(worker&) noexcept { return false; }
  /// The same for messages that come one by one, without looking for others.
  virtual bool poll_mail(worker&) noexcept { return false; }
  /// Sends buffers for which tasks have waited for some time. `now`: of rough_time.
  virtual void send_awaited(worker&, std::uint64_t /*now*/) noexcept {}
  /// Sends the buffers, since the worker is idle. It may also execute messages; then it returns true, and there may be
  /// new work.
  virtual bool flush(worker&) noexcept { return false; }
  /// Whether poll() would find messages. Called after the worker has announced that it parks.
  virtual bool pending(worker&) noexcept { return false; }
  /// The longest time to park before pending() must be called again; negative: senders wake the worker.
  virtual std::int64_t longest_sleep_ns(worker&) noexcept { return -1; }
  /// True: all that the worker has issued is complete already. False: calls `request.done` when it is.
  virtual bool fence(worker&, fence_request&) noexcept { return true; }
  /// Whether anything that the worker has issued is not complete. Any thread, while the worker sleeps.
  virtual bool in_flight(worker&) noexcept { return false; }
};

/// Where a pool gets work when it has none: from other nodes. Called on the worker's own thread. Neither function may
/// switch tasks or throw.
struct work_source {
  virtual ~work_source() = default;
  /// The worker has found nothing to do, and is about to send its buffers and to park.
  virtual void seek(worker&) noexcept = 0;
  /// Called from time to time while the worker polls.
  virtual void tend(worker&) noexcept = 0;
};

struct pool_options {
  unsigned workers = 1;
  std::size_t stack_bytes = std::size_t{64} << 10;
  std::size_t most_stacks = 0;            // 0: as many as may wait in all of the memory
  std::size_t most_waiting_bytes = 0;     // 0: a quarter of the memory
  std::vector<int> processors;            // by worker; empty or -1: not pinned
  std::vector<machine::processor> where;  // by worker, for distances between them; empty: not known
  steal_policy_factory steal;             // makes the victim policies; empty: the standard policy
  unsigned spin_rounds = 40;              // polls before a worker with nothing to do parks
  bool heavy_fences = true;  // the parking worker fences for spawning ones (membarrier), if possible; else they fence
  fiber::guard_kind guards = fiber::guard_kind::marked;  // the best to try
  machine::page_choice stack_pages = machine::page_choice::small;
  machine::executor* executor = &machine::threads();  // runs the workers; outlives the pool
  // Called on each worker's thread; what it gives lives until the worker ends.
  std::function<std::shared_ptr<void>(unsigned worker)> around_thread;
  void (*before_ring_from_outside)() = nullptr;  // for tests: called when the woken task can already run
  std::size_t most_blocking_threads = 512;
  bool single_threaded_libraries = true;  // machine/library_threads.hpp
  unsigned processors_for_it = 0;         // that its workers may use at the same time; 0: as many as the executor has
  bool shares_processors = false;         // with other pools and jobs (runtime/processor_share.hpp)
};

class pool {
public:
  explicit pool(const pool_options& options, pool_hooks* hooks = nullptr);
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool();

  /// Starts workers 1 ... and is worker 0 while `main_task` runs. Rethrows its exception.
  void run(const std::function<void()>& main_task);

  /// What `top -H` and debuggers call the thread of a worker: shoal-w3; of node 2 of a job shoal-2-w3. The kernel keeps 15
  /// letters; where these do not suffice, 10000-w100. A thread of the program that runs worker 0 keeps its name.
  static std::string thread_name(int node, unsigned worker);

  /// Starts all workers on threads of their own.
  void start();
  /// Ends what start() began.
  void finish() noexcept;
  /// Any thread, between start() and finish(): gives a task to the first worker that looks for one. The task may wait.
  void submit(errand& e) noexcept;
  /// Moves submitted tasks to the arrived ones of `w`, the calling worker; true if there were any.
  bool take_submitted(worker& w);

  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }
  /// How many workers are active, and begin tasks: the first `n`, at least one. The others go on with the tasks that have
  /// begun there, begin what only they can run, and leave the rest to the active ones; a loop gives up what is left of
  /// its range after a chunk. Ignored if may_be_inactive() is false. Any thread.
  void set_active(unsigned n) noexcept;
  /// Whether workers of this pool may be inactive: all must be reached by all victim policies.
  bool may_be_inactive() const noexcept { return all_reach_all_ && !needs_all_.load(std::memory_order_relaxed); }
  /// From now on all are active: tasks that have begun wait for tasks that a smaller number cannot begin.
  void need_all() noexcept {
    set_active(size());
    needs_all_.store(true, std::memory_order_relaxed);
  }
  unsigned active() const noexcept { return active_.load(std::memory_order_relaxed); }
  bool is_active(unsigned worker) const noexcept { return worker < active(); }
  worker& at(unsigned i) noexcept { return *workers_[i]; }
  pool_hooks& hooks() noexcept { return *hooks_; }
  /// Before the workers start. Outlives them.
  void use(work_source& source) noexcept { source_ = &source; }
  work_source* source() const noexcept { return source_; }
  const pool_options& options() const noexcept { return options_; }
  /// What became of options().stack_pages.
  const machine::page_plan& stack_pages() const noexcept { return stack_pages_; }
  machine::executor& executor() const noexcept { return *options_.executor; }
  /// What base::rough_time counts, by the clock of the executor.
  std::uint64_t rough_now() const noexcept { return clock_.now(); }
  /// Has a virtual clock charge work that the calling worker has done.
  void charge(machine::work what, std::uint64_t times) const noexcept {
    if (!clock_.is_real()) [[unlikely]]
      executor().charge(what, times);
  }
  const worker_map& map() const noexcept { return map_; }
  fiber::stack_region& stacks() noexcept { return region_; }
  /// Stacks of a size that a task asks for: class `size_class` - 1 of fiber::stack_classes; 0: the ordinary ones.
  fiber::stack_region& stacks_of_class(unsigned size_class) {
    return size_class == 0 ? region_ : classes_.region(size_class - 1);
  }
  /// The region that `address` lies in and the number of its stack there; nullptr: none. Async-signal-safe.
  const fiber::stack_region* find_stack(const void* address, std::size_t* stack) const noexcept {
    return region_.find(address, stack) ? &region_ : classes_.find(address, stack);
  }
  /// Of the stack of a worker's thread, which is none of stacks().
  fiber::stack_notes& native_notes(unsigned worker) noexcept { return native_notes_[worker]; }
  /// each(const fiber::stack_region&) for all that there are. Any thread.
  template <class Each>
  void visit_stacks(const Each& each) const {
    each(region_);
    classes_.visit(each);
  }
  /// Whether `notes` is the address of the notes of a stack of this pool; any other value is none. Does not read it.
  bool owns(const void* notes) const noexcept;
  profiler& profiling() noexcept { return profiler_; }
  blocking_threads& blocking() noexcept { return blocking_; }

  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  /// Ends the workers' loops; worker 0's too. Any thread.
  void stop() noexcept;
  /// Has `begin` give work to the workers, which they execute before they end; false if the pool stops. Any thread.
  bool give_unless_stopping(const std::function<void()>& begin);

  /// Call it after publishing work: wakes one parked worker, unless one searches. `from`: the worker that published;
  /// null: none in particular. Prefers workers near `from`; wakes none whose policy does not reach `from`. Any thread.
  void wake_one(const worker* from) noexcept;
  /// `from`, which searches and has found work, wakes the next searcher; two if there is `plenty` of work and a
  /// processor for each worker.
  void hand_search_on(const worker& from, bool plenty) noexcept;
  lockfree::sleeper_map<>& sleepers() noexcept { return *sleepers_; }
  unsigned slot(unsigned w) const noexcept { return slots_[w]; }
  bool heavy_fences() const noexcept { return heavy_fences_; }
  const detail::pool_signs& signs() const noexcept { return signs_; }

  /// Around what a thread that is no worker of this pool does to make a task runnable: the task may end the pool at once,
  /// and the pool then waits for the thread. begin: while the pool is known to exist.
  void begin_wake_from_outside() noexcept { wakers_.enter(); }
  void end_wake_from_outside() noexcept;

  /// No other pool of the process has had it (open_pools.hpp).
  std::uint64_t number() const noexcept { return number_; }

  /// Work that no task waits for (see detached_count.hpp). Workers of this pool.
  void begin_detached() noexcept { detached_.begin(); }
  void end_detached() noexcept;
  /// The same for a thread. False after wait_and_refuse_threads(), which comes before the end.
  bool begin_detached_from_outside() noexcept;
  /// Whether there is any. Any thread.
  bool has_detached() const noexcept { return detached_.any(); }
  /// One task at a time, when the tasks that others wait for have ended: returns at a moment when all detached work has
  /// ended, and gives how much had begun, modulo 2^32. May switch.
  std::uint32_t wait_for_detached() noexcept;
  /// The same; from then on only tasks begin detached work.
  std::uint32_t wait_and_refuse_threads() noexcept;

  /// Where its workers exchange blocks (see worker_base).
  block_depot& blocks(bool large) noexcept { return blocks_[large]; }

  /// Tasks of other than normal priority.
  lanes& by_priority() noexcept { return lanes_; }
  bool urgent() const noexcept { return signs_.urgent.load(std::memory_order_relaxed) != 0; }
  /// A task waits for what another one holds; perhaps that one, in turn, waits for this one. Any thread.
  void note_wait_for_holder(bool suspicious) noexcept {
    std::atomic<bool>& flag = suspicious ? cycle_suspected_ : holder_awaited_;
    if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
  }
  /// Each tells once.
  /// True once: for whoever warns that iterations are held back for others that only yield.
  bool take_warning_of_yields() noexcept { return !warned_of_yields_.exchange(true, std::memory_order_relaxed); }
  bool take_suspicion() noexcept { return cycle_suspected_.exchange(false, std::memory_order_relaxed); }
  bool take_holder_awaited() noexcept { return holder_awaited_.exchange(false, std::memory_order_relaxed); }
  /// Whether a thread from outside is about to wake a task, or to submit one. A hint.
  bool woken_from_outside() const noexcept { return wakers_.inside(); }
  bool anything_submitted() const noexcept { return !submitted_.empty(); }
  /// Whether there are tasks outside of the deques: submitted, or with a priority other than normal.
  bool anything_apart() const noexcept {
    return !submitted_.empty() || urgent() || lanes_.any(priority::low) || lanes_.any(priority::background);
  }

private:
  friend struct shoal::debug_offsets;  // of sched/debug_layout.cpp
  void place_sleepers();
  unsigned groups() const noexcept {
    return static_cast<unsigned>(at_slot_.size()) / lockfree::sleeper_map<>::k_group_slots;
  }
  void warn_of_library_threads() const;
  void start_threads(unsigned first);
  void start_thread(unsigned i);
  void pin(unsigned i) const noexcept;
  void join() noexcept;
  void wait_for_wakers() noexcept;
  bool refuse_threads_if_idle(std::uint32_t& begun) noexcept;
  void refuse_threads_from_outside() noexcept;

  pool_options options_;
  worker_map map_;
  pool_hooks none_;
  pool_hooks* hooks_;
  work_source* source_ = nullptr;
  const machine::page_plan stack_pages_;
  fiber::stack_region region_;
  fiber::stack_classes classes_;
  const bool heavy_fences_;
  const machine::rough_clock clock_;                          // of the executor
  const bool may_double_;                                     // there is a processor for each worker
  const std::unique_ptr<fiber::stack_notes[]> native_notes_;  // by worker
  alignas(64) detail::pool_signs signs_;                      // partners: parking workers and whoever spawns
  alignas(64) lockfree::wake_sign<> fenced_sign_;  // the sleepers' sign if publishers fence (signs_.wake: always on)
  std::vector<unsigned> slots_;                    // by worker: its bit in sleepers_; packages have groups of their own
  std::vector<worker*> at_slot_;                   // the worker of each slot; null: unused
  bool all_reach_all_ = true;                      // any worker may begin what another one has
  std::optional<lockfree::sleeper_map<>> sleepers_;  // constructed when it is known which workers reach which
  lanes lanes_;
  block_depot blocks_[2];
  lockfree::inbox<> submitted_;               // partners: submit() and the workers that look
  lockfree::waker_count<> wakers_;            // threads from outside that wake tasks
  std::atomic<bool> cycle_suspected_{false};  // partners: tasks that wait for a mutex, the watch
  std::atomic<bool> holder_awaited_{false};
  std::atomic<bool> warned_of_yields_{false};  // partners: the workers
  lockfree::detached_count<detail::suspended*> detached_;
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> active_;        // partners: the workers, and who sets it
  std::atomic<bool> needs_all_{false};  // partner: who sets active_
  std::uint64_t number_ = 0;
  std::mutex giving_;             // held by give_unless_stopping(), and for a moment by what ends the giving
  bool refuses_threads_ = false;  // with `giving_`
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<machine::executor::thread>> threads_;
  profiler profiler_{*this};
  // For debuggers.
  const debug_moment made_;  // when the pool was
  int node_ = -1;            // of a job
  blocking_threads blocking_;
};

}  // namespace shoal::sched
