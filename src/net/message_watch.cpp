// SPDX-License-Identifier: Apache-2.0
#include "net/message_watch.hpp"

#include "net/message_domain.hpp"

namespace shoal::net {

message_watch::message_watch(const std::vector<std::unique_ptr<message_domain>>& domains) : domains_(domains) {
  for (unsigned d = 0; d < domains_.size(); ++d) events_.add(domains_[d]->event(), d);
  thread_ = std::thread([this] { watch(); });
}

message_watch::~message_watch() {
  events_.stop();
  thread_.join();
}

void message_watch::arm(unsigned domain) noexcept { events_.arm(domains_[domain]->event(), domain); }

void message_watch::watch() noexcept {
  while (const auto domain = events_.wait()) domains_[*domain]->serve_event();
}

}  // namespace shoal::net
