// SPDX-License-Identifier: Apache-2.0
#include "net/message_watch.hpp"

#include "net/message_domain.hpp"

namespace shoal::net {

message_watch::message_watch(const std::vector<std::unique_ptr<message_domain>>& domains, machine::executor& by)
    : domains_(domains) {
  for (unsigned d = 0; d < domains_.size(); ++d) events_.add(domains_[d]->event(), d);
  runner_ = by.make_runner("shoal-events", *this);
  runner_->start();
}

message_watch::~message_watch() { runner_->stop(); }

void message_watch::arm(unsigned domain) noexcept { events_.arm(domains_[domain]->event(), domain); }

std::int64_t message_watch::tick() noexcept {
  std::array<std::uint32_t, 16> room{};
  for (const std::uint32_t domain : events_.take(room)) domains_[domain]->serve_event();
  return machine::k_no_timeout;
}

}  // namespace shoal::net
