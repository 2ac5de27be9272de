// SPDX-License-Identifier: Apache-2.0
// An executor whose clock is a number. Its threads are threads of the system of which one runs at a time; another one
// runs only when the running one waits, yields or ends. Which one is drawn from a seed, so a run can be repeated. When
// all sleep, the clock jumps to the next deadline; when there is none, the program is deadlocked: it says who waits, and
// aborts. It does the same when the clock passes `limit_ns`, for programs in which only time-outs happen.
// Who may call: threads that it started, now_ns() and schedule() any. A thread that waits past the executor (a mutex that
// a waiting thread holds, a real sleep) stops the program: this is how such waits are found.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "machine/executor.hpp"
#include "machine/process.hpp"
#include "shoal/random.hpp"

namespace shoal::machine {

class virtual_executor final : public executor {
public:
  explicit virtual_executor(std::uint64_t seed = 1, std::uint64_t limit_ns = ~std::uint64_t{0})
      : seed_(seed), limit_ns_(limit_ns) {}
  virtual_executor(const virtual_executor&) = delete;
  virtual_executor& operator=(const virtual_executor&) = delete;

  /// Runs `body` as the first thread; returns when it and all that it started have ended.
  void run(const std::function<void()>& body) {
    std::unique_lock lock(mutex_);
    std::thread first = begin(add("first"), body);
    running_ = &choose(lock);
    running_->turn.notify_one();
    all_ended_.wait(lock, [this] { return strands_.empty(); });
    lock.unlock();
    first.join();
  }

  /// A digest of which thread ran when.
  std::uint64_t schedule() {
    const std::lock_guard lock(mutex_);
    return schedule_;
  }

  std::uint64_t now_ns() noexcept override {
    const std::lock_guard lock(mutex_);
    advance(now_ns_ + k_clock_ns);  // a loop that waits for a time ends
    return now_ns_;
  }

  futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                    bool) noexcept override {
    std::unique_lock lock(mutex_);
    if (word.load() != expected) return futex_result::changed;
    return sleep(lock, &word, timeout_ns);
  }

  int wake(std::atomic<std::uint32_t>& word, int count, bool) noexcept override {
    const std::lock_guard lock(mutex_);
    return wake_some(&word, count);
  }

  // Looks at the real descriptors once per virtual millisecond.
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override {
    constexpr std::int64_t k_between_looks_ns = 1'000'000;
    for (std::int64_t left_ns = timeout_ns;; left_ns -= k_between_looks_ns) {
      if (const int ready = machine::wait_any(descriptors, 0); ready >= 0) return ready;
      if (timeout_ns >= 0 && left_ns <= 0) return -1;
      std::unique_lock lock(mutex_);
      sleep(lock, &lock, timeout_ns < 0 ? k_between_looks_ns : std::min(left_ns, k_between_looks_ns));
    }
  }

  unsigned processors() noexcept override { return 0; }  // virtual time passes for all threads at once

  void yield() noexcept override {
    std::unique_lock lock(mutex_);
    advance(now_ns_ + k_yield_ns);
    give_turn(lock);
  }

  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override {
    const std::lock_guard lock(mutex_);
    auto one = add(std::move(name));
    return std::make_unique<handle>(*this, one, begin(one, std::move(body)));
  }

private:
  static constexpr std::uint64_t k_clock_ns = 10;
  static constexpr std::uint64_t k_yield_ns = 1'000;
  static constexpr std::uint64_t k_never = ~std::uint64_t{0};

  struct strand {
    std::string name;
    std::uint64_t number = 0;
    std::condition_variable turn;
    const void* asleep_on = nullptr;  // null: it can run
    std::uint64_t deadline_ns = k_never;
    futex_result result = futex_result::woken;
    bool ended = false;
  };

  class handle final : public thread {
  public:
    handle(virtual_executor& by, std::shared_ptr<strand> one, std::thread t)
        : by_(by), one_(std::move(one)), thread_(std::move(t)) {}
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() override { join(); }
    void join() noexcept override {
      if (!thread_.joinable()) return;
      by_.await_end(*one_);
      thread_.join();
    }

  private:
    virtual_executor& by_;
    const std::shared_ptr<strand> one_;
    std::thread thread_;
  };

  // All below with the mutex held.
  std::shared_ptr<strand> add(std::string name) {
    strands_.push_back(std::make_shared<strand>());
    strands_.back()->name = std::move(name);
    strands_.back()->number = ++started_;
    return strands_.back();
  }

  std::thread begin(std::shared_ptr<strand> me, std::function<void()> body) {
    return std::thread([this, me = std::move(me), body = std::move(body)] {
      t_self = me.get();
      {
        std::unique_lock lock(mutex_);
        me->turn.wait(lock, [&] { return running_ == me.get(); });
      }
      body();
      std::unique_lock lock(mutex_);
      me->ended = true;
      std::erase(strands_, me);
      wake_some(me.get(), static_cast<int>(strands_.size()));
      if (strands_.empty()) {
        running_ = nullptr;
        all_ended_.notify_all();
        return;
      }
      running_ = &choose(lock);
      running_->turn.notify_one();
    });
  }

  void await_end(strand& other) {
    std::unique_lock lock(mutex_);
    while (!other.ended) sleep(lock, &other, k_no_timeout);
  }

  futex_result sleep(std::unique_lock<std::mutex>& lock, const void* on, std::int64_t timeout_ns) {
    strand& me = self();
    me.asleep_on = on;
    me.deadline_ns = timeout_ns < 0 ? k_never : now_ns_ + static_cast<std::uint64_t>(timeout_ns);
    me.result = futex_result::woken;
    give_turn(lock);
    return me.result;
  }

  strand& self() {
    if (t_self == nullptr || t_self != running_) stop("a thread waits that is not the running one");
    return *t_self;
  }

  void give_turn(std::unique_lock<std::mutex>& lock) {
    strand& me = self();
    running_ = &choose(lock);
    if (running_ == &me) return;
    running_->turn.notify_one();
    me.turn.wait(lock, [&] { return running_ == &me; });
  }

  strand& choose(const std::unique_lock<std::mutex>&) {
    for (;;) {
      std::vector<strand*> able;
      std::uint64_t next_ns = k_never;
      for (const auto& s : strands_) {
        if (s->asleep_on == nullptr) able.push_back(s.get());
        next_ns = std::min(next_ns, s->asleep_on != nullptr ? s->deadline_ns : k_never);
      }
      if (!able.empty()) {
        strand& chosen = *able[splitmix64::at(seed_, ++turns_) % able.size()];
        schedule_ = splitmix64::at(schedule_ ^ now_ns_, chosen.number);
        return chosen;
      }
      if (next_ns == k_never) stop("deadlock: all sleep without a limit");
      advance(next_ns);
    }
  }

  void advance(std::uint64_t to_ns) {
    now_ns_ = std::max(now_ns_, to_ns);
    if (now_ns_ > limit_ns_) stop("the limit is over");
    for (const auto& s : strands_)
      if (s->asleep_on != nullptr && s->deadline_ns <= now_ns_) rouse(*s, futex_result::timeout);
  }

  int wake_some(const void* on, int count) {
    int woken = 0;
    for (const auto& s : strands_)
      if (woken < count && s->asleep_on == on) rouse(*s, futex_result::woken), ++woken;
    return woken;
  }

  static void rouse(strand& s, futex_result how) {
    s.asleep_on = nullptr;
    s.deadline_ns = k_never;
    s.result = how;
  }

  [[noreturn]] void stop(const char* why) {
    std::fprintf(stderr, "virtual time, %.6f s, seed %llu: %s;", static_cast<double>(now_ns_) * 1e-9,
                 static_cast<unsigned long long>(seed_), why);
    for (const auto& s : strands_)
      std::fprintf(stderr, " %s %s", s->name.c_str(),
                   s->asleep_on == nullptr     ? "runs"
                   : s->deadline_ns == k_never ? "sleeps without a limit"
                                               : "sleeps until a deadline");
    std::fputs("\n", stderr);
    std::abort();
  }

  static inline thread_local strand* t_self = nullptr;

  const std::uint64_t seed_;
  const std::uint64_t limit_ns_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::vector<std::shared_ptr<strand>> strands_;  // in the order in which they were started
  strand* running_ = nullptr;
  std::uint64_t now_ns_ = 1;
  std::uint64_t turns_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t schedule_ = 0;
};

}  // namespace shoal::machine
