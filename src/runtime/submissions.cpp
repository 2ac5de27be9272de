// SPDX-License-Identifier: Apache-2.0
#include "runtime/submissions.hpp"

#include <limits>
#include <utility>

#include "shoal/detail/loop.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {

struct submissions::entry final : sched::errand {
  std::unique_ptr<detail::submission> what;
  submissions* owner = nullptr;
};

void submissions::execute(detail::task& t) noexcept {
  const std::unique_ptr<entry> mine(&static_cast<entry&>(static_cast<sched::errand&>(t)));
  if (auto* const p = sched::this_worker()->profile(); p != nullptr) p->begins_unspawned();
  sched::this_worker()->runs_code(mine->what->code);
  detail::set_outermost(true);
  mine->what->run();
  detail::set_outermost(false);
  mine->what.reset();
  mine->owner->end_one();
}

void submissions::end_one() noexcept {
  const std::lock_guard hold(mutex_);
  if (--unfinished_ != 0 || !closed_) return;
  // With the mutex held: the waiter may end the pool as soon as it has the mutex.
  all_ended_.store(1, std::memory_order_relaxed);
  workers_.executor().wake(all_ended_, std::numeric_limits<int>::max(), false);
}

void submissions::begin(std::unique_ptr<detail::submission> s) {
  auto made = std::make_unique<entry>();
  made->what = std::move(s);
  made->owner = this;
  made->run = execute;
  {
    const std::lock_guard hold(mutex_);
    if (closed_) throw error(errc::stopped, refusal_);
    ++unfinished_;
  }
  workers_.submit(*made.release());
}

bool submissions::any() {
  const std::lock_guard hold(mutex_);
  return unfinished_ != 0;
}

void submissions::close() {
  std::unique_lock hold(mutex_);
  closed_ = true;
  while (unfinished_ != 0) {
    hold.unlock();
    workers_.executor().wait(all_ended_, 0, machine::k_no_timeout, false);
    hold.lock();
  }
}

}  // namespace shoal::runtime
