// SPDX-License-Identifier: Apache-2.0
#include "net/message_server.hpp"

#include <algorithm>

#include "machine/futex.hpp"
#include "net/message_domain.hpp"

namespace shoal::net {
namespace {

// Limits of a tick: polls that found nothing, and polls that found something.
constexpr int k_looks = 8;
constexpr int k_most_moves = 64;
constexpr int k_idle_ticks_before_sleep = 25;
constexpr std::int64_t k_first_sleep_ns = 10'000;
constexpr std::int64_t k_last_sleep_ns = 500'000;

}  // namespace

message_server::message_server(machine::executor& by)
    : sleep_ns_(k_first_sleep_ns), runner_(by.make_runner("shoal-messages", *this)) {}

message_server::~message_server() { stop(); }

void message_server::start(const std::vector<std::unique_ptr<message_domain>>& domains) {
  for (const auto& d : domains) domains_.push_back(d.get());
  runner_->start();
}

bool message_server::move() noexcept {
  bool any = false;
  for (message_domain* d : domains_) any |= d->progress();
  return any;
}

std::int64_t message_server::tick() noexcept {
  for (int looks = 0, moves = 0; looks < k_looks;) {
    if (move()) {
      idle_ticks_ = 0;
      sleep_ns_ = k_first_sleep_ns;
      if (++moves == k_most_moves) return 0;
    } else {
      machine::pause();
      ++looks;
    }
  }
  if (++idle_ticks_ < k_idle_ticks_before_sleep) return 0;
  bool told = true;
  for (message_domain* d : domains_) told = d->arm() && told;
  if (told) return machine::k_no_timeout;
  const std::int64_t now = sleep_ns_;
  sleep_ns_ = std::min(2 * sleep_ns_, k_last_sleep_ns);
  return now;
}

}  // namespace shoal::net
