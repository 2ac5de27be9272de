// SPDX-License-Identifier: Apache-2.0
#include "launch/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/start_errors.hpp"

namespace shoal::launch {

std::string describe(std::uint32_t node, const peer& p) {
  return fmt::format("node {} (host {}, process {})", node, p.host, p.pid);
}

std::optional<refusal_message> roster::come(const hello_message& hello) {
  if (hello.nodes != size() || hello.node >= size())
    return refusal_message{errc::mismatch,
                           fmt::format("a node was started as node {} of {} in a job of {}; start all with the same "
                                       "number of nodes",
                                       hello.node, hello.nodes, size())};
  member& m = members_[hello.node];
  if (m.now != presence::absent) return refusal_message{errc::mismatch, started_already(hello.node)};
  if (present_ == 0) {
    first_come_ = hello.node;
  } else {
    const hello_message& first = members_[first_come_].hello;
    if (first.code != hello.code) return refusal_message{errc::mismatch, code_mismatch(hello.node, first.node)};
    if (first.settings != hello.settings)
      return refusal_message{errc::mismatch,
                             printable(other_settings(hello.node, hello.settings, first.node, first.settings))};
  }
  m.now = presence::present;
  m.hello = hello;
  if (present_ != 0) m.hello.code = m.hello.settings = {};  // the first one's are those of all
  ++present_;
  return std::nullopt;
}

std::vector<std::uint32_t> roster::missing() const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t n = 0; n < size(); ++n)
    if (members_[n].now == presence::absent) result.push_back(n);
  return result;
}

void roster::leave(std::uint32_t node) noexcept {
  members_[node].now = presence::left;
  if (!left_ || node < *left_) left_ = node;
}

std::string roster::describe(std::uint32_t node) const {
  if (at(node) == presence::absent) return fmt::format("node {}", node);
  return launch::describe(node, members_[node].hello.me);
}

bool roster::give(std::uint32_t node, std::vector<std::byte> part) {
  if (members_[node].part) return false;
  members_[node].part = std::move(part);
  ++given_;
  return true;
}

std::vector<std::vector<std::byte>> roster::take_parts() {
  std::vector<std::vector<std::byte>> parts;
  for (member& m : members_) parts.push_back(*std::exchange(m.part, std::nullopt));
  given_ = 0;
  return parts;
}

}  // namespace shoal::launch
