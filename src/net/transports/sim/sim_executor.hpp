// SPDX-License-Identifier: Apache-2.0
// An executor that runs all its threads in one thread of the system, each on a stack and with a clock of its own: a
// processor of a simulated machine. The thread with the earliest clock runs, until it waits, or until its clock has
// passed that of another by more than `lookahead_ps`; ties are drawn from the seed. Clocks advance by what is charged:
// by a table (the same seed gives the same run, bit for bit), or by the time that the host takes.
// Who may call: the thread of the system that made it, which is its first thread. Everything may switch to another
// thread but now_ns(), wake(), charge() and spend_ps(), which only advance the caller's clock.
// Guarantees: a thread that looks after give_way() sees all that others did more than lookahead_ps before its time.
// When no thread can ever run again, a report says who waits, and the process ends. Background activities do not
// count. A node that stops or dies (faults.hpp) does so where its threads poll, send, wait or yield.
// Tests: tests/unit/net/sim_executor_test.cpp, tests/unit/net/sim_faults_test.cpp, tests/cluster/sim_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockfree/doorbell.hpp"
#include "machine/executor.hpp"
#include "net/transports/sim/costs.hpp"
#include "net/transports/sim/faults.hpp"

namespace shoal::net {

struct sim_clock_options {
  std::uint64_t seed = 1;
  std::uint64_t lookahead_ps = 1'000'000;
  double jitter = 0;           // of the delay of a wake-up: at most so much more, as a part of it
  double measured_factor = 0;  // of the host's time; 0: by the table
  sim_costs costs;
  std::vector<sim_fault> faults;  // in the order of their begin; those of nodes count
  std::size_t stack_bytes = std::size_t{1} << 20;
  std::uint64_t quiet_limit_ps = 2'000'000'000'000;  // of nothing but background activities: then nothing follows
};

class sim_executor final : public machine::executor {
public:
  explicit sim_executor(const sim_clock_options& options);
  sim_executor(const sim_executor&) = delete;
  sim_executor& operator=(const sim_executor&) = delete;
  /// All threads but the first have ended.
  ~sim_executor();

  std::uint64_t now_ns() noexcept override;
  machine::futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                             bool shared) noexcept override;
  int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept override;
  /// Looks at the real descriptors once per virtual millisecond.
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override;
  void yield() noexcept override;
  unsigned processors() noexcept override { return 0; }  // one for each thread
  void charge(machine::work what, std::uint64_t times) noexcept override;
  void spend_ns(std::uint64_t ns) noexcept override;
  /// What would interrupt a thread while it sleeps takes nothing from it, but for what lasts until it is woken.
  std::unique_ptr<interruption> interrupt(machine::thread_timer::action act, void* data,
                                          std::uint64_t first_ns) override;
  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override;
  std::unique_ptr<machine::activity_runner> make_runner(std::string name, machine::activity& what) override;

  /// The threads that the calling one starts from now on, but background activities, belong to that node, and fail with
  /// it; so does the calling one itself. The first thread belongs to node 0.
  void enter_node(std::uint32_t node) noexcept;

  // For transports.
  /// The caller's clock.
  std::uint64_t now_ps() noexcept {
    account();
    return *clock_ps_;
  }
  void spend_ps(std::uint64_t ps) noexcept {
    account();
    if (options_.measured_factor == 0) *clock_ps_ += ps;
  }
  /// What takes time whatever computes: of the network.
  void delay_ps(std::uint64_t ps) noexcept {
    account();
    *clock_ps_ += ps;
  }
  /// Lets others run whose clocks are behind.
  void give_way() noexcept {
    account();
    if (*clock_ps_ >= dies_at_ps_) [[unlikely]]
      vanish();
    if (!queue_.empty() && *clock_ps_ > queue_.front().time_ps + options_.lookahead_ps) [[unlikely]]
      switch_away();
  }
  /// Lets all others run whose clocks are behind: what follows comes after all that they do before.
  void come_last() noexcept {
    account();
    if (*clock_ps_ >= dies_at_ps_) [[unlikely]]
      vanish();
    if (!queue_.empty() && *clock_ps_ > queue_.front().time_ps) switch_away();
  }
  /// Rings at that time, which may be the present.
  void ring_at(std::uint64_t time_ps, lockfree::doorbell<>& bell);
  std::uint64_t random() noexcept;
  /// A random time of at most that part of `of`.
  std::uint64_t random_part(std::uint64_t of, double at_most) noexcept;
  /// Adds to the digest of the run.
  void note(std::uint64_t what) noexcept;

  const sim_clock_options& options() const noexcept { return options_; }
  /// Equal digests: the same threads ran at the same times, and noted the same.
  std::uint64_t digest() const noexcept { return digest_; }
  std::uint64_t switches() const noexcept { return switches_; }
  /// The latest clock of any thread that is no background activity.
  std::uint64_t latest_ps() const noexcept { return std::max(latest_ps_, *clock_ps_); }
  /// Called on a thread of its own before the process ends because nothing can run; may wake the others, and wait.
  void when_deadlocked(std::function<void()> report) { report_ = std::move(report); }

private:
  struct sim_thread;
  class handle;
  class background;
  class own_interruption;

  // What happens at a time: a thread goes on, its wait ends, or a bell rings.
  struct entry {
    std::uint64_t time_ps;
    std::uint64_t tie;
    sim_thread* thread;  // nullptr: the bell
    std::uint64_t wait;  // the number of the wait that ends; 0: it goes on
    lockfree::doorbell<>* bell;
    bool operator<(const entry& other) const noexcept {  // the heap has the largest first
      return time_ps != other.time_ps ? time_ps > other.time_ps : tie > other.tie;
    }
  };

  void account() noexcept {
    if (options_.measured_factor != 0) [[unlikely]]
      measure();
    if (*clock_ps_ >= disturbed_at_ps_) [[unlikely]]
      catch_up();
  }
  void catch_up() noexcept;
  void find_disturbance() noexcept;
  const sim_fault* next_fault(sim_thread& t, std::uint64_t after_ps) noexcept;
  std::uint64_t held_until(sim_thread& t, std::uint64_t time_ps) noexcept;
  void vanish() noexcept;
  void measure() noexcept;
  std::unique_ptr<thread> add(std::string name, std::function<void()> body, bool is_background);
  void push(std::uint64_t time_ps, sim_thread* of, std::uint64_t wait, lockfree::doorbell<>* bell);
  void make_ready(sim_thread& t, std::uint64_t time_ps) noexcept;
  void rouse(sim_thread& t, std::uint64_t time_ps, machine::futex_result how) noexcept;
  int wake_at(const void* word, int count, std::uint64_t time_ps) noexcept;
  machine::futex_result sleep(const void* on, std::int64_t timeout_ns) noexcept;
  void forget_sleeper(sim_thread& t) noexcept;
  void switch_away() noexcept;
  void go_on(sim_thread& next) noexcept;
  sim_thread& choose() noexcept;
  void drop_ended_waits();
  static bool is_over(const entry& e) noexcept;
  static void begin() noexcept;
  void run_to_end(sim_thread& me) noexcept;
  void end_deadlocked(const char* why);
  bool counts(const entry& e) const noexcept;

  const sim_clock_options options_;
  std::vector<std::unique_ptr<sim_thread>> threads_;  // in the order in which they were started
  sim_thread* running_ = nullptr;
  std::uint64_t* clock_ps_ = nullptr;           // its clock
  std::uint64_t disturbed_at_ps_ = k_never_ps;  // its next interruption or stop
  std::uint64_t dies_at_ps_ = k_never_ps;       // its node
  std::vector<entry> queue_;                    // a heap
  std::size_t ended_waits_ = 0;                 // entries of queue_ whose waits have ended otherwise
  struct waiters {
    sim_thread* first = nullptr;
    sim_thread* last = nullptr;
  };
  std::unordered_map<const void*, waiters> asleep_;  // by word
  std::size_t foreground_ = 0;                       // entries that are not for background activities
  std::uint64_t latest_ps_ = 0;
  std::uint64_t pushes_ = 0;
  std::uint64_t drawn_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t measured_from_ = 0;  // ticks
  double ps_per_tick_ = 0;
  std::function<void()> report_;
  std::unique_ptr<thread> reports_;  // while it is called
  std::unique_ptr<background> background_;
  const int owner_;  // the system's number of the thread
  struct values_place {
    void* at;
    std::size_t bytes;
  };
  std::vector<values_place> values_;  // of the thread of the system
};

}  // namespace shoal::net
