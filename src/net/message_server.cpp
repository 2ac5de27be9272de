// SPDX-License-Identifier: Apache-2.0
#include "net/message_server.hpp"

#include <algorithm>

#include "machine/futex.hpp"
#include "net/message_domain.hpp"

namespace shoal::net {
namespace {

constexpr int k_rounds_before_sleep = 200;
constexpr std::int64_t k_first_sleep_ns = 10'000;
constexpr std::int64_t k_last_sleep_ns = 500'000;

}  // namespace

message_server::~message_server() { stop(); }

void message_server::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  ring();
  thread_.join();
}

void message_server::start(const std::vector<std::unique_ptr<message_domain>>& domains) {
  for (const auto& d : domains) domains_.push_back(d.get());
  thread_ = std::thread([this] { serve(); });
}

void message_server::ring() noexcept {
  if (bell_.ring()) machine::futex_wake(bell_.word(), 1, false);
}

void message_server::serve() noexcept {
  int idle = 0;
  std::int64_t sleep_ns = k_first_sleep_ns;
  const auto move = [this] {
    bool any = false;
    for (message_domain* d : domains_) any |= d->progress();
    return any;
  };
  while (!stopping_.load(std::memory_order_acquire)) {
    if (move()) {
      idle = 0;
      sleep_ns = k_first_sleep_ns;
      continue;
    }
    if (++idle < k_rounds_before_sleep) {
      idle % 8 == 7 ? machine::yield_processor() : machine::pause();
      continue;
    }
    bell_.prepare();
    if (move() || stopping_.load(std::memory_order_acquire)) {
      bell_.cancel();
      continue;
    }
    bool told = true;
    for (message_domain* d : domains_) told = d->arm() && told;
    machine::futex_wait(bell_.word(), lockfree::doorbell<>::k_announced, told ? machine::k_no_timeout : sleep_ns,
                        false);
    bell_.cancel();
    sleep_ns = std::min(2 * sleep_ns, k_last_sleep_ns);
  }
}

}  // namespace shoal::net
