// SPDX-License-Identifier: Apache-2.0
#include "runtime/submissions.hpp"

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
  sched::this_worker()->begun().code = mine->what->code;
  detail::set_outermost(true);
  mine->what->run();
  detail::set_outermost(false);
  mine->what.reset();
  mine->owner->end_one();
}

void submissions::end_one() noexcept {
  const std::lock_guard hold(mutex_);
  if (--unfinished_ == 0 && closed_) all_ended_.notify_all();
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

void submissions::close() {
  std::unique_lock hold(mutex_);
  closed_ = true;
  all_ended_.wait(hold, [this] { return unfinished_ == 0; });
}

}  // namespace shoal::runtime
