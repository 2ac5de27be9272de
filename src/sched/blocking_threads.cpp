// SPDX-License-Identifier: Apache-2.0
#include "sched/blocking_threads.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "sched/pool.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"

namespace shoal::sched {

blocking_threads::~blocking_threads() {
  {
    const std::lock_guard hold(lock_);
    SHOAL_ASSERT(first_ == nullptr, "a pool stops only when none of its tasks waits");
    ending_ = true;
    bell_.fetch_add(1, std::memory_order_release);
  }
  executor_.wake(bell_, static_cast<int>(most_), false);
  threads_.clear();  // joins
}

std::size_t blocking_threads::count() const {
  const std::lock_guard hold(lock_);
  return running_;
}

void blocking_threads::run(function code, void* argument) {
  call mine{code, argument, detail::this_task()};
  bool wakes = false;
  {
    const std::lock_guard hold(lock_);
    wakes = idle_ > called_;
    if (wakes) {
      ++called_;
      bell_.fetch_add(1, std::memory_order_release);
    } else if (running_ < most_) {
      start_one();
    }
    (first_ == nullptr ? first_ : last_->next) = &mine;
    last_ = &mine;
  }
  if (wakes) executor_.wake(bell_, 1, false);
  detail::leave(detail::wait_kind::blocking);
}

// With the lock held, so that the new thread, which takes it first, finds the call.
void blocking_threads::start_one() {
  const std::size_t number = ended_.empty() ? threads_.size() : ended_.back();
  try {
    if (ended_.empty()) {
      threads_.emplace_back();
      ended_.reserve(threads_.size());  // a thread that ends must not fail
    } else {
      ended_.pop_back();
    }
    threads_[number].reset();  // joins one that has ended
    threads_[number] = executor_.start_thread("shoal-block", [this, number, log = base::current_log_context()] {
      base::set_log_context(log);
      serve(number);
    });
    ++running_;
  } catch (const std::system_error& e) {
    ended_.push_back(number);
    if (running_ == 0)
      throw error(errc::exhausted,
                  fmt::format("the system refuses a thread for a blocking call ({}); raise ulimit -u", e.what()));
  }
}

// With the lock held.
blocking_threads::call* blocking_threads::take() noexcept {
  call* const c = first_;
  if (c != nullptr) first_ = c->next;
  return c;
}

void blocking_threads::serve(std::size_t number) noexcept {
  for (std::unique_lock hold(lock_);;) {
    if (call* const c = take(); c != nullptr) {
      hold.unlock();
      detail::suspended* const task = c->task;
      c->code(c->argument);
      detail::wake(task);  // from here on the call is gone
      hold.lock();
      continue;
    }
    if (ending_) return;
    const std::uint32_t seen = bell_.load(std::memory_order_relaxed);
    ++idle_;
    hold.unlock();
    const bool timed_out = executor_.wait(bell_, seen, k_idle_ns, false) == machine::futex_result::timeout;
    hold.lock();
    --idle_;
    if (called_ > 0) --called_;
    if (timed_out && first_ == nullptr && !ending_) {
      --running_;
      ended_.push_back(number);
      return;
    }
  }
}

}  // namespace shoal::sched

namespace shoal::detail {

void call_blocking(void (*function)(void*) noexcept, void* argument) {
  sched::this_worker()->owner().blocking().run(function, argument);
}

}  // namespace shoal::detail
