// SPDX-License-Identifier: Apache-2.0
#include "rank/waiting.hpp"

#include <fmt/format.h>

#include "rank/communicator.hpp"

namespace shoal::rank {
namespace {

std::string peer_text(int peer) { return peer == MPI_ANY_SOURCE ? "any rank" : fmt::format("rank {}", peer); }
std::string tag_text(int tag) { return tag == MPI_ANY_TAG ? "any tag" : fmt::format("tag {}", tag); }

}  // namespace

std::string wait_note::describe_wait(const described_wait& self) {
  return text_of(static_cast<const wait_note&>(self));
}

std::string text_of(const wait_note& n) {
  const std::string who = fmt::format("{} of rank {}", n.function == nullptr ? "a call" : n.function, n.rank);
  const std::string where = n.where == nullptr ? std::string() : " in " + n.where->shown_name();
  using enum wait_note::kind;
  switch (n.what) {
    case receive: return fmt::format("{}: a message of {} with {}{}", who, peer_text(n.peer), tag_text(n.tag), where);
    case probe: return fmt::format("{}: any message of {} with {}{}", who, peer_text(n.peer), tag_text(n.tag), where);
    case send:
      return fmt::format("{}: that {} receives a message with {}{}", who, peer_text(n.peer), tag_text(n.tag), where);
    case collective: return fmt::format("{}: the other members' calls{}", who, where);
    case some_request: break;
  }
  return fmt::format("{}: its requests", who);
}

}  // namespace shoal::rank
