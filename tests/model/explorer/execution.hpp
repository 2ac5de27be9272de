// SPDX-License-Identifier: Apache-2.0
// One execution of a scenario: model threads on fibers, one memory, and the decisions that control them. Every atomic
// operation is a point at which another thread may continue. An error ends the execution with a reason: a failed check,
// a data race, a deadlock, an endless run, an exception. Then all fibers unwind, so nothing leaks. A scenario sets up
// the shared data, declares its threads with thread(), and the final checks with finally().
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/explorer/decisions.hpp"
#include "model/explorer/fiber.hpp"
#include "model/explorer/memory.hpp"
#include "model/explorer/orders.hpp"

namespace shoal::model {

class execution {
public:
  // `preemptions`: how often a runnable thread may be interrupted. `steps`: the limit that counts as an endless run.
  execution(decisions& choices, order_book& orders, unsigned preemptions, unsigned steps)
      : choices_(choices), orders_(orders), preemption_bound_(preemptions), step_bound_(steps) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  static execution& current() { return *current_; }

  void thread(std::string name, std::function<void()> body) {
    if (threads_.size() == k_max_threads) throw std::length_error("more threads than the explorer has room for");
    threads_.push_back(std::make_unique<model_thread>(std::move(name), std::move(body)));
    threads_.back()->sight.id = threads_.size() - 1;
  }
  void finally(std::function<void()> look) { finally_ = std::move(look); }

  // Runs the scenario once. False: it failed, see reason(). With `traced`, trace() lists each step.
  bool run(const std::function<void(execution&)>& scenario, bool traced) {
    current_ = this;
    traced_ = traced;
    reset();
    guarded([&] { scenario(*this); });
    for (std::size_t i = 1; i < threads_.size(); ++i) {
      threads_[i]->sight.now = main().sight.now;
      if (fibers_.size() < i) fibers_.push_back(std::make_unique<fiber>(&execution::live, this));
    }
    if (threads_.size() > 1) {
      running_phase_ = true;
      resume(pick_next(false));
      running_phase_ = false;
      me_ = 0;
    }
    for (const auto& each : threads_) main().sight.now.join(each->sight.now);
    memory_.catch_up(main().sight);
    if (!failed() && finally_) guarded(finally_);
    finally_ = nullptr;  // destroys the scenario's data before this execution
    threads_.resize(1);
    return !failed();
  }

  /// The number of the running thread; 0 during set-up.
  std::size_t thread_number() const { return me_; }
  bool failed() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }
  const std::string& trace() const { return trace_; }

  void fail(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
    throw abandoned{};
  }

  // --- called by model_atomics.hpp ---

  std::size_t create(std::uint64_t value) { return memory_.create(sight(), value); }

  std::uint64_t load(std::size_t at, std::memory_order asked, source_place where) {
    if (!step()) return memory_.at(at).stores.back().value;
    const std::memory_order order = orders_.effective(operation::load, asked, where);
    exists(at, where);
    const std::size_t newest = memory_.at(at).newest();
    const std::size_t choices = newest - memory_.oldest_visible(sight(), at, order) + 1;
    const std::size_t index = newest - choices_.pick(choices);
    const std::uint64_t value = memory_.load(sight(), at, index, order);
    if (traced_) tell(where, "{} = load @{} {} (store {} of 0..{})", number(value), at, name_of(order), index, newest);
    return value;
  }

  void store(std::size_t at, std::uint64_t value, std::memory_order asked, source_place where) {
    if (!step()) return;
    const std::memory_order order = orders_.effective(operation::store, asked, where);
    exists(at, where);
    memory_.store(sight(), at, value, order);
    news();
    if (traced_) tell(where, "store @{} {} {}", at, number(value), name_of(order));
  }

  template <class F>
  std::uint64_t replace(std::size_t at, F&& new_value, std::memory_order asked, source_place where) {
    const std::uint64_t old = memory_.at(at).stores.back().value;
    if (!step()) return old;
    const std::memory_order order = orders_.effective(operation::replace, asked, where);
    exists(at, where);
    const std::uint64_t read = memory_.at(at).stores.back().value;
    const std::uint64_t written = new_value(read);
    memory_.replace_newest(sight(), at, written, order);
    news();
    if (traced_) tell(where, "{} = replace @{} by {} {}", number(read), at, number(written), name_of(order));
    return read;
  }

  // Fails by reading any visible store of another value; succeeds only on the newest.
  bool compare_exchange(std::size_t at, std::uint64_t& expected, std::uint64_t wanted, std::memory_order asked,
                        std::memory_order on_failure, source_place where) {
    if (!step()) return true;
    const std::memory_order order = orders_.effective(operation::replace, asked, where);
    exists(at, where);
    const auto& stores = memory_.at(at).stores;
    const std::size_t newest = stores.size() - 1;
    std::vector<std::size_t> visible;
    for (std::size_t i = newest + 1; i-- > memory_.oldest_visible(sight(), at, on_failure);)
      if (i == newest || stores[i].value != expected) visible.push_back(i);
    const std::size_t index = visible[choices_.pick(visible.size())];
    const bool success = index == newest && stores[index].value == expected;
    if (success) {
      memory_.replace_newest(sight(), at, wanted, order);
      news();
    } else {
      expected = memory_.load(sight(), at, index, on_failure);
    }
    if (traced_)
      tell(where, "{} = compare_exchange @{} {} to {} {}", success, at, number(expected), number(wanted),
           name_of(order));
    return success;
  }

  void fence(std::memory_order asked, source_place where) {
    if (!step()) return;
    const std::memory_order order = orders_.effective(operation::fence, asked, where);
    memory_.fence(sight(), order);
    if (traced_) tell(where, "fence {}", name_of(order));
  }

  // membarrier(2): a fence that every thread executes, this one at the beginning and at the end of the call.
  void heavy_fence(source_place where) {
    if (!step()) return;
    constexpr std::memory_order k_order = std::memory_order_seq_cst;
    memory_.fence(sight(), k_order);
    for (const auto& each : threads_) memory_.fence(each->sight, k_order);
    memory_.fence(sight(), k_order);
    if (traced_) tell(where, "heavy fence");
  }

  void plain_access(race_clock& clock, bool write, source_place where) {
    if (unwinding()) return;
    if (traced_) tell(where, write ? "write plain data" : "read plain data");
    if (!(write ? clock.written_by(sight()) : clock.read_by(sight())))
      fail(fmt::format("data race: {} by thread {} at {}:{}", write ? "write" : "read", me().name, file_of(where),
                       where.line()));
  }

  // The kernel compares under its lock: it sees the newest value, and afterwards so does this thread.
  void futex_wait(std::size_t at, std::uint64_t expected, source_place where) {
    if (!step()) return;
    const std::uint64_t value = memory_.load(sight(), at, memory_.at(at).newest(), std::memory_order_relaxed);
    const bool sleeps = value == expected;
    if (traced_) tell(where, "futex wait @{}: {}", at, sleeps ? "sleeps" : "no");
    if (!sleeps) return;
    me().blocked_on = at;
    leave(false);
  }

  void futex_wake_one(std::size_t at, source_place where) {
    if (!step()) return;
    std::vector<model_thread*> sleepers;
    for (const auto& each : threads_)
      if (each->blocked_on == at) sleepers.push_back(each.get());
    if (traced_) tell(where, "futex wake @{}: {} asleep", at, sleepers.size());
    if (!sleepers.empty()) sleepers[choices_.pick(sleepers.size())]->blocked_on = k_nowhere;
    news();
  }

  void futex_wake_all(std::size_t at, source_place where) {
    if (!step()) return;
    if (traced_) tell(where, "futex wake all @{}", at);
    for (const auto& each : threads_)
      if (each->blocked_on == at) each->blocked_on = k_nowhere;
    news();
  }

  // In a waiting loop: other threads run until one of them has changed something, and stores become visible.
  void give_way() {
    if (unwinding() || !running_phase_) return;
    count_step();
    me().gives_way = true;
    leave(false);
    memory_.catch_up(sight());
  }

private:
  struct abandoned {};  // thrown in a model thread to end it
  static constexpr std::size_t k_nowhere = ~std::size_t{0};
  static constexpr unsigned k_steps_told = 400;  // limit of the printed steps of an endless run

  struct model_thread {
    model_thread(std::string n, std::function<void()> b) : name(std::move(n)), body(std::move(b)) {}
    std::string name;
    std::function<void()> body;
    observer sight;
    std::size_t blocked_on = k_nowhere;
    bool gives_way = false;
    bool finished = false;
  };

  model_thread& main() { return *threads_[0]; }
  model_thread& me() { return *threads_[me_]; }
  observer& sight() { return me().sight; }
  bool unwinding() const { return failed() && std::uncaught_exceptions() > 0; }

  void reset() {
    memory_.clear();
    threads_.clear();
    thread("main", {});
    me_ = 0;
    steps_ = 0;
    preempted_ = 0;
    reason_.clear();
    trace_.clear();
  }

  template <class F>
  void guarded(F&& f) {
    try {
      f();
    } catch (const abandoned&) {
    } catch (const std::exception& e) {
      if (reason_.empty()) reason_ = fmt::format("thread {} threw: {}", me().name, e.what());
    }
  }

  // The main function of a fiber: it runs one model thread per execution.
  static void live(void* self) {
    execution& run = *static_cast<execution*>(self);
    for (;;) {
      if (!run.failed()) run.guarded([&run] { run.me().body(); });
      run.me().body = nullptr;
      run.me().finished = true;
      run.news();
      run.resume(run.pick_next(false));
    }
  }

  // Lets waiting threads check again.
  void news() {
    for (const auto& each : threads_) each->gives_way = false;
  }

  void count_step() {
    if (++steps_ > step_bound_) fail(fmt::format("no end after {} steps", step_bound_));
  }

  // Called before each operation. False: this thread unwinds, and the operation does not count.
  bool step() {
    if (unwinding()) return false;
    if (running_phase_) {
      count_step();
      leave(true);
    }
    sight().tick();
    return true;
  }

  // May let another thread continue. `could_stay`: the current thread could continue, too.
  void leave(bool could_stay) {
    const std::size_t next = pick_next(could_stay);
    if (next != me_) resume(next);
    if (failed()) throw abandoned{};
  }

  // 0: all threads have ended.
  std::size_t pick_next(bool could_stay) {
    if (failed()) return first_unfinished();
    const bool may_preempt = choices_.random() || !could_stay || preempted_ < preemption_bound_;
    std::size_t ready[k_max_threads];
    std::size_t count = 0;
    if (could_stay) ready[count++] = me_;
    for (std::size_t i = 1; may_preempt && i < threads_.size(); ++i)
      if (i != me_ && runnable(i) && !threads_[i]->gives_way) ready[count++] = i;
    for (std::size_t i = me_ + 1; count == 0 && i < me_ + threads_.size(); ++i) {
      const std::size_t other = i % threads_.size();
      if (other == 0 || !runnable(other)) continue;
      news();  // all threads gave way to each other
      return other;
    }
    if (count == 0 && me_ != 0 && runnable(me_)) return me_;
    if (count == 0) {
      const std::size_t stuck = first_unfinished();
      if (stuck != 0)
        reason_ = fmt::format("deadlock: thread {} sleeps and nobody is left to wake it", threads_[stuck]->name);
      return stuck;
    }
    const std::size_t next = ready[choices_.pick(count)];
    if (could_stay && next != me_) ++preempted_;
    return next;
  }

  std::size_t first_unfinished() const {
    for (std::size_t i = 1; i < threads_.size(); ++i)
      if (!threads_[i]->finished) return i;
    return 0;
  }
  bool runnable(std::size_t i) const { return !threads_[i]->finished && threads_[i]->blocked_on == k_nowhere; }

  void resume(std::size_t next) {
    fiber& from = me_ == 0 ? home_ : *fibers_[me_ - 1];
    me_ = next;
    fiber& to = next == 0 ? home_ : *fibers_[next - 1];
    if (&from != &to) fiber::go(from, to);
  }

  void exists(std::size_t at, source_place where) {
    if (!memory_.constructed_for(sight(), at))
      fail(fmt::format("data race: thread {} at {}:{} uses an atomic whose construction it does not know of", me().name,
                       file_of(where), where.line()));
  }

  static std::string number(std::uint64_t v) { return v < 100000 ? fmt::format("{}", v) : fmt::format("{:#x}", v); }

  template <class... Args>
  void tell(source_place where, std::string_view form, const Args&... args) {
    if (steps_ > k_steps_told) return;
    trace_ += fmt::format("{:4} {:10} {:60} {}:{}\n", steps_, me().name, fmt::format(fmt::runtime(form), args...),
                          file_of(where), where.line());
  }

  static inline execution* current_ = nullptr;

  decisions& choices_;
  order_book& orders_;
  const unsigned preemption_bound_;
  const unsigned step_bound_;
  memory memory_;
  fiber home_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<std::unique_ptr<model_thread>> threads_;
  std::function<void()> finally_;
  std::size_t me_ = 0;
  bool running_phase_ = false;
  unsigned steps_ = 0;
  unsigned preempted_ = 0;
  bool traced_ = false;
  std::string reason_;
  std::string trace_;
};

// An assertion of a scenario.
inline void check(bool holds, std::string_view what, source_place where = source_place::current()) {
  if (!holds) execution::current().fail(fmt::format("{} ({}:{})", what, file_of(where), where.line()));
}

}  // namespace shoal::model
