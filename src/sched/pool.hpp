// SPDX-License-Identifier: Apache-2.0
// The workers of one node: starts and stops them, and knows who sleeps. What lies above the scheduler (messages) comes
// in through `pool_hooks`.
// Who may call: the thread that made it (run, start, finish); submit, wake_one and stopping any thread.
// Guarantees: run() runs the main task on the calling thread, which is worker 0, and returns when it has ended. Or
// start() gives each worker a thread of its own, submit() brings tasks, and finish() ends them. A program must have no
// task left when a pool stops. Not from inside a task, but for submit().
// Shown by tests/unit/sched/pool_test.cpp.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fiber/stack_classes.hpp"
#include "lockfree/sleeper_map.hpp"
#include "machine/executor.hpp"
#include "sched/block_depot.hpp"
#include "sched/lanes.hpp"
#include "sched/profiler.hpp"
#include "sched/steal_policies.hpp"
#include "sched/worker.hpp"
#include "sched/worker_map.hpp"

namespace shoal::sched {

/// A wish to know that all asynchronous operations begun by a worker so far are complete.
struct fence_request {
  void (*done)(fence_request&) noexcept = nullptr;  // on that worker, while it polls; may not switch
};

/// What the layers above do for a worker, on its own thread. None may switch tasks or throw.
struct pool_hooks {
  virtual ~pool_hooks() = default;
  /// Serves what has arrived; true if anything had.
  virtual bool poll(worker&) noexcept { return false; }
  /// Pushes out what is buffered, since the worker is idle; true if it served others meanwhile, which may have given it
  /// work.
  virtual bool flush(worker&) noexcept { return false; }
  /// Whether something arrived that poll() would serve: asked between announcing sleep and sleeping.
  virtual bool pending(worker&) noexcept { return false; }
  /// How long it may sleep now before pending() must be asked again; negative: whoever brings something rings.
  virtual std::int64_t longest_sleep_ns(worker&) noexcept { return -1; }
  /// Calls `request.done` once all that the worker has issued is complete; true if it is already (no call then).
  virtual bool fence(worker&, fence_request&) noexcept { return true; }
};

struct pool_options {
  unsigned workers = 1;
  std::size_t stack_bytes = std::size_t{64} << 10;
  std::size_t most_stacks = 0;            // 0: as many as may wait in all of the memory
  std::size_t most_waiting_bytes = 0;     // 0: a quarter of the memory
  std::vector<int> processors;            // by worker; empty or -1: not pinned
  std::vector<machine::processor> where;  // by worker, for distances between them; empty: not known
  steal_policy_factory steal;             // whom a worker steals from; empty: the standard policy
  unsigned spin_rounds = 40;              // polls before a worker with nothing to do parks
  bool heavy_fences = true;  // a worker that parks fences for those who spawn, where the system can; else they do
  fiber::guard_kind guards = fiber::guard_kind::marked;  // the best to try
  machine::executor* executor = &machine::threads();     // runs the workers; outlives the pool
};

class pool {
public:
  explicit pool(const pool_options& options, pool_hooks* hooks = nullptr);
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool();

  /// Starts workers 1 ... and becomes worker 0 for as long as `main_task` runs. Rethrows what it throws.
  void run(const std::function<void()>& main_task);

  /// Starts all workers on threads of their own.
  void start();
  /// Ends what start() began.
  void finish() noexcept;
  /// Offers a task to whichever worker looks first; it may wait. Any thread, between start() and finish().
  void submit(errand& e) noexcept;
  /// Takes what was submitted into the deque of `w`, the calling worker; true if there was anything.
  bool take_submitted(worker& w);

  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }
  worker& at(unsigned i) noexcept { return *workers_[i]; }
  pool_hooks& hooks() noexcept { return *hooks_; }
  const pool_options& options() const noexcept { return options_; }
  machine::executor& executor() const noexcept { return *options_.executor; }
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
  /// Whether these are the notes of a stack that a worker of this pool may stand on. Does not look at them.
  bool owns(const fiber::stack_notes& notes) const noexcept;
  profiler& profiling() noexcept { return profiler_; }

  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  /// Ends the workers' loops; worker 0's too. Any thread.
  void stop() noexcept;

  /// Wakes a parked worker, if there is one and nobody searches: after `from`, or a thread that is no worker, has
  /// published work. Prefers workers near `from`; takes none whose policy does not reach it. Any thread.
  void wake_one(const worker* from) noexcept;
  /// `from`, which searches and has found work, wakes the next searcher; two if there is `plenty` of work and a
  /// processor for each worker.
  void hand_search_on(const worker& from, bool plenty) noexcept;
  lockfree::sleeper_map<>& sleepers() noexcept { return *sleepers_; }
  unsigned slot(unsigned w) const noexcept { return slots_[w]; }
  bool heavy_fences() const noexcept { return heavy_fences_; }
  const detail::pool_signs& signs() const noexcept { return signs_; }

  /// Where its workers exchange blocks (see worker_base).
  block_depot& blocks(bool large) noexcept { return blocks_[large]; }

  /// Tasks of other than normal priority.
  lanes& by_priority() noexcept { return lanes_; }
  bool urgent() const noexcept { return signs_.urgent.load(std::memory_order_relaxed) != 0; }
  /// Whether something waits that is in nobody's deque: submitted, or of another priority than normal.
  bool anything_apart() const noexcept {
    return !submitted_.empty() || urgent() || lanes_.any(priority::low) || lanes_.any(priority::background);
  }

private:
  void place_sleepers();
  unsigned groups() const noexcept {
    return static_cast<unsigned>(at_slot_.size()) / lockfree::sleeper_map<>::k_group_slots;
  }
  void start_thread(unsigned i);
  void pin(unsigned i) const noexcept;
  void join() noexcept;

  pool_options options_;
  worker_map map_;
  pool_hooks none_;
  pool_hooks* hooks_;
  fiber::stack_region region_;
  fiber::stack_classes classes_;
  const bool heavy_fences_;
  const bool may_double_;                          // there is a processor for each worker
  alignas(64) detail::pool_signs signs_;           // partners: parking workers and whoever spawns
  alignas(64) lockfree::wake_sign<> fenced_sign_;  // in the place of signs_.wake, where publishers fence
  std::vector<unsigned> slots_;                    // by worker: its bit in sleepers_; packages have groups of their own
  std::vector<worker*> at_slot_;                   // the other way round; null: nobody's
  std::optional<lockfree::sleeper_map<>> sleepers_;  // made once the workers say whom they reach
  lanes lanes_;
  block_depot blocks_[2];
  lockfree::inbox<> submitted_;  // partners: submit() and the workers that look
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<machine::executor::thread>> threads_;
  profiler profiler_{*this};
};

}  // namespace shoal::sched
