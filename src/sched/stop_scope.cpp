// SPDX-License-Identifier: Apache-2.0
#include "shoal/stop_scope.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/task.hpp"

namespace shoal {

namespace detail {

void look_at_limits(const scope_limit& innermost) noexcept {
  if (t_worker == nullptr) return;
  const std::uint64_t now_ns = clock_ns();
  for (const scope_limit* l = &innermost; l != nullptr; l = l->outer)
    if (l->due_ns <= now_ns) l->come(*l);
}

std::uint64_t scope::due_ns() const noexcept {
  std::uint64_t first = time_limit::k_never;
  for (const scope_limit* l = limit_; l != nullptr; l = l->outer) first = std::min(first, l->due_ns);
  return first;
}

const scope* exchange_scope(const scope* s) noexcept {
  const fiber::tsan_ignore_scope ignore;
  return std::exchange(sched::worker_now().scope, s);
}

}  // namespace detail

// It may be ended on another worker than it was made on: by a movable task. Then it goes back as an errand.
struct stop_scope::alarm final : sched::timer, sched::errand, detail::scope_limit {
  alarm(const std::stop_source& s, sched::worker& w, std::uint64_t due, const detail::scope_limit* around) noexcept
      : timer([](timer& t) noexcept { static_cast<alarm&>(t).ring(); }),
        scope_limit{due, around,
                    [](const scope_limit& l) noexcept { static_cast<alarm&>(const_cast<scope_limit&>(l)).ring(); }},
        source(s),
        home(w) {
    run = [](detail::task& t) noexcept { static_cast<alarm&>(static_cast<errand&>(t)).end(); };
  }
  // By any task of the scope, or its timer.
  void ring() noexcept {
    if (source.request_stop()) first.store(true, std::memory_order_release);
  }
  void end() noexcept {
    home.timers().end(*this);
    delete this;
  }

  std::stop_source source;
  sched::worker& home;
  std::atomic<bool> first{false};  // partner: timed_out()
};

stop_scope::stop_scope(std::stop_source source, detail::time_limit until, std::stop_token other)
    : scope(source.get_token()), source_(std::move(source)) {
  detail::worker_here();
  sched::worker& w = *sched::this_worker();
  const detail::scope_limit* const around = limit_of(w.scope);
  set_limit(around);
  if (until.due_ns() != detail::time_limit::k_never) {
    auto made = std::make_unique<alarm>(source_, w, until.due_ns(), around);
    w.timers().add(*made, until.due_ns());
    alarm_ = made.release();
    set_limit(alarm_);
  }
  if (w.scope != nullptr) with_outer_.emplace(w.scope->token(), forward{&source_});
  if (other.stop_possible()) with_other_.emplace(std::move(other), forward{&source_});
  if (alarm_ != nullptr && until.is_past()) alarm_->ring();
}

task_group::task_group(const stop_scope& s) noexcept : given_scope_(&s) {}

stop_scope::~stop_scope() {
  {
    // Where a task of this worker has called them, the library asks for no order, which TSan would want between two tasks.
    const fiber::tsan_ignore_scope ignore;
    with_other_.reset();
    with_outer_.reset();
  }
  if (alarm_ == nullptr) return;
  if (&alarm_->home == detail::t_worker)
    alarm_->end();
  else
    alarm_->home.give_errand(*alarm_);
}

bool stop_scope::timed_out() const noexcept {
  return alarm_ != nullptr && alarm_->first.load(std::memory_order_acquire);
}

}  // namespace shoal
