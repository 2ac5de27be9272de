// SPDX-License-Identifier: Apache-2.0
#include "machine/activity_thread.hpp"

namespace shoal::machine {

activity_thread::activity_thread(executor& by, std::string name, activity& what)
    : executor_(by), name_(std::move(name)), activity_(what) {
  if (!activity_.descriptors().empty()) wake_.emplace();
}

activity_thread::~activity_thread() { stop(); }

void activity_thread::start() {
  thread_ = executor_.start_thread(name_, [this] { run(); });
}

void activity_thread::notify() noexcept {
  if (!told_.set()) return;
  if (wake_)
    wake_->wake();
  else
    executor_.wake(told_.word(), 1, false);
}

void activity_thread::stop() noexcept {
  if (thread_ == nullptr) return;
  stopping_.store(true, std::memory_order_release);
  notify();
  thread_.reset();
}

void activity_thread::run() noexcept {
  for (;;) {
    told_.clear();
    if (stopping_.load(std::memory_order_acquire)) return;
    const std::int64_t rest_ns = activity_.tick();
    if (rest_ns == 0)
      executor_.yield();
    else if (told_.prepare())
      sleep(rest_ns);
  }
}

void activity_thread::sleep(std::int64_t limit_ns) noexcept {
  if (!wake_) {
    executor_.wait(told_.word(), notification<>::k_asleep, limit_ns, false);
    return;
  }
  const std::span<const int> wanted = activity_.descriptors();
  watched_.assign(wanted.begin(), wanted.end());
  watched_.push_back(wake_->descriptor());
  executor_.wait_any(watched_, limit_ns);
  wake_->clear();
}

}  // namespace shoal::machine
