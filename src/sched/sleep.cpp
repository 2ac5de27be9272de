// SPDX-License-Identifier: Apache-2.0
#include "shoal/sleep.hpp"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/future.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

std::uint64_t clock_ns() noexcept { return static_cast<sched::worker&>(worker_here()).owner().executor().now_ns(); }

void sleep(time_limit until) {
  if (until.is_past()) return yield();
  struct alarm final : sched::timer {
    explicit alarm(suspended* t) noexcept
        : timer([](timer& self) noexcept { wake(static_cast<alarm&>(self).task); }), task(t) {}
    suspended* task;
  } at_end(this_task());
  sched::this_worker()->timers().add(at_end, until.due_ns());
  leave(wait_kind::time);
}

// The request is a promise, which any thread may set.
bool sleep(time_limit until, const std::stop_token& stop) {
  promise<void> requested;
  future<void> request = requested.get_future();
  struct setter {
    void set() noexcept {
      called = true;
      to.set_value();
    }
    ~setter() {  // the call below has ended, or will not be made
      if (!called) to.set_value();
    }
    promise<void>& to;
    bool called = false;
  } by{requested};
  struct registration {
    registration(const std::stop_token& t, setter& s) : callback(std::in_place, t, call{&s}) {}
    ~registration() {
      // Where the same worker has called it, the library asks for no order, which TSan would want between two tasks.
      const tsan_ignore_scope ignore;
      callback.reset();
    }
    struct call {
      setter* by;
      void operator()() const noexcept { by->set(); }
    };
    std::optional<std::stop_callback<call>> callback;
  } const registered(stop, by);
  // A wait without a limit might end on another worker.
  const time_limit limit = time_limit::at(std::min(until.due_ns(), time_limit::k_never / 2));
  return !await_until(future_access::state(request), limit) && !stop.stop_requested();
}

// The timer of a scope's limit may belong to a worker that computes: this one looks at the clock itself.
bool sleep_in_scope(time_limit until) {
  const scope* const here = worker_here().scope;
  if (here == nullptr) {
    sleep(until);
    return true;
  }
  const bool whole = sleep(time_limit::at(std::min(until.due_ns(), here->due_ns())), here->token());
  return whole && !here->stop_requested();
}

}  // namespace shoal::detail
