// SPDX-License-Identifier: Apache-2.0
// The runtime's access to time and threads, as one object: the clock of deadlines, sleeping and waking,
// yielding in a loop that waits, threads, and background activities. threads() is the executor of production: the
// machine's clock, futexes and threads. Another executor may keep a virtual clock and run one thread at a time.
// Who may call: any thread that the executor started; of threads() any thread. wait(), wait_any() and join() block the
// thread. Never switches tasks. Paths without a wait call nothing here: pause() (futex.hpp) stays a plain instruction,
// and loops that use it are bounded and then yield() or wait(). Profiles measure with base::ticks(): real time.
// Guarantees: those of futex.hpp for wait() and wake(). An executor must outlive all that uses it.
// Shown by tests/unit/machine/executor_test.cpp, tests/unit/sched/virtual_time_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "machine/futex.hpp"
#include "machine/thread_timer.hpp"

namespace shoal::machine {

/// Background work in short ticks, one at a time, with sleep between them.
class activity {
public:
  /// Does what is due. Returns how many nanoseconds it may sleep; k_no_timeout: until something wakes it; 0: not at
  /// all, but others may run first. May not block.
  virtual std::int64_t tick() noexcept = 0;
  /// Descriptors that wake it when they are readable; negative ones are skipped. Asked after each tick. An activity
  /// that waits for descriptors has at least one entry when its runner is made.
  virtual std::span<const int> descriptors() noexcept { return {}; }

protected:
  ~activity() = default;
};

/// Runs an activity. The destructor stops it.
class activity_runner {
public:
  virtual ~activity_runner() = default;
  /// Once. Throws std::system_error where the system refuses a thread.
  virtual void start() = 0;
  /// The activity has something to do: it ticks at once, or once more if a tick runs now. Any thread, also after
  /// stop().
  virtual void notify() noexcept = 0;
  /// When it returns no tick runs, and none will. Not from a tick.
  virtual void stop() noexcept = 0;
};

/// What an executor with a virtual clock is told of, to charge its time.
enum class work : std::uint8_t {
  turn,       // a task, a child that runs inline, a chunk of a loop
  iteration,  // of a loop
  write,      // a word of a command, in a block that goes over routes
  execute,    // and where it is executed
  copy,       // and each time such a block is copied
  block,      // a block that is copied, however small
};

class executor {
public:
  /// A thread that was started; the destructor joins.
  class thread {
  public:
    virtual ~thread() = default;
    virtual void join() noexcept = 0;
  };

  /// The clock of all deadlines. Never goes back.
  virtual std::uint64_t now_ns() noexcept = 0;
  /// Whether that is the machine's clock, which base::rough_time shows too.
  virtual bool has_real_clock() noexcept { return false; }
  /// As futex_wait() and futex_wake().
  virtual futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                            bool shared) noexcept = 0;
  virtual int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept = 0;
  /// As machine::wait_any().
  virtual int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) = 0;
  /// Lets other threads run; for loops that wait for them. Time passes.
  virtual void yield() noexcept = 0;
  /// How many threads may run at the same time; 0: not known.
  virtual unsigned processors() noexcept = 0;
  /// `name`: of the thread, for top -H and debuggers, which see its first 15 bytes. Throws std::system_error where the
  /// system refuses a thread.
  virtual std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) = 0;
  /// Not started yet. `what` must outlive the runner. The runner of this class is a thread of this executor.
  virtual std::unique_ptr<activity_runner> make_runner(std::string name, activity& what);
  /// The calling thread has done so much since it told last. Not called where the clock is real. Does not wait.
  virtual void charge(work, std::uint64_t /*times*/) noexcept {}
  /// Time in which the calling thread does nothing else; it does not wait, so no other thread runs in its place.
  virtual void spend_ns(std::uint64_t ns) noexcept;
  /// Calls `act` on the calling thread, which ends the result: as a thread_timer of this executor's clock. Throws
  /// shoal::error if the system has no timer left.
  class interruption {
  public:
    virtual ~interruption() = default;
  };
  virtual std::unique_ptr<interruption> interrupt(thread_timer::action act, void* data, std::uint64_t first_ns);

protected:
  ~executor() = default;
};

/// The executor of production: one object, without state.
executor& threads() noexcept;

}  // namespace shoal::machine
