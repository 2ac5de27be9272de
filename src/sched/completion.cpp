// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/completion.hpp"

#include <fmt/format.h>

#include <string>

#include "base/log.hpp"
#include "base/thrown.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/movable.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

namespace {

// Inside the handler of the dropped exception.
void report_thrown(const char* name, const char* advice) noexcept {
  try {
    const std::string whose = name != nullptr ? fmt::format("the task '{}'", name) : "a task";
    base::warn("an exception that {} threw was dropped: {} ({})", whose, base::sentence_of_thrown(), advice);
  } catch (...) {
    base::warn("an exception that a task threw was dropped ({})", advice);
  }
}

}  // namespace

void report_dropped(const std::exception_ptr& e, const char* name) noexcept {
  // Another one may be on its way to a handler that knows nothing of this one.
  const char* const advice = std::uncaught_exceptions() > 0
                                 ? "another exception left the scope before a wait could throw it"
                                 : "wait() of its task_group, or get() of its future, would have thrown it";
  try {
    std::rethrow_exception(e);
  } catch (...) {
    report_thrown(name, advice);
  }
}

void completion::done(std::int64_t n) noexcept {
  sched::note_end();
  fiber::release_to(this);
  if (const completion_waiter w = count_.done(n)) w.notify();
}

void completion::add_elsewhere() noexcept { count_.add_elsewhere(); }

void completion::wait_for(std::int64_t n, wait_kind why) noexcept {
  if (n <= 0) return;
  if (count_.must_block(this_task(), n)) leave(why, this);
  count_.end_wait();
  fiber::acquire_from(this);
  add(-n);  // not before: an operation that asks for the end of all is to find it outstanding
}

void completion::wait_anywhere(wait_kind why) noexcept {
  const std::int64_t n = begun_;
  if (n <= 0) return;
  sched::moving_wait moving;
  if (count_.must_block(this_task(), n)) moving.leave(why, this);
  count_.end_wait();
  fiber::acquire_from(this);
  add(-n);
}

// The task stays on its worker, whose timer it is.
bool completion::wait_until(time_limit until) {
  const std::int64_t n = begun_;
  if (n <= 0) return true;
  struct alarm final : sched::timer {
    alarm(completion_count<completion_waiter>& c, std::int64_t count) noexcept
        : timer([](sched::timer& t) noexcept {
            auto& self = static_cast<alarm&>(t);
            const completion_waiter waiter = self.of.waiter();
            self.passed = self.of.give_up(self.n);
            if (self.passed) waiter.notify();
          }),
          of(c),
          n(count) {}
    completion_count<completion_waiter>& of;
    std::int64_t n;
    bool passed = false;
  } at_limit(count_, n);
  sched::worker& w = *sched::this_worker();
  if (!until.is_past() && until.due_ns() != time_limit::k_never) w.timers().add(at_limit, until.due_ns());
  if (count_.must_block(this_task(), n)) {
    if (until.is_past() && count_.give_up(n)) {
      w.timers().end(at_limit);
      yield();  // it may be called in a loop
      return false;
    }
    leave(wait_kind::time, this);
  }
  w.timers().end(at_limit);
  if (at_limit.passed) return false;
  count_.end_wait();
  fiber::acquire_from(this);
  add(-n);
  return true;
}

bool completion::call_when_done(completion_callback& next) noexcept {
  const std::int64_t n = begun_;
  begun_ = 0;  // before: `next` may destroy this
  if (count_.must_block(next, n)) return true;
  count_.end_wait();
  fiber::acquire_from(this);
  return false;
}

void completion::rethrow_failure() { std::rethrow_exception(take_failure()); }

}  // namespace shoal::detail
