// SPDX-License-Identifier: Apache-2.0
#include "rank/waiting.hpp"

#include <fmt/format.h>

#include "machine/symbols.hpp"
#include "rank/communicator.hpp"
#include "rank/node_ranks.hpp"

namespace shoal::rank {
namespace {

std::string peer_text(int peer) { return peer == MPI_ANY_SOURCE ? "any rank" : fmt::format("rank {}", peer); }
std::string tag_text(int tag) { return tag == MPI_ANY_TAG ? "any tag" : fmt::format("tag {}", tag); }

// The program's: functions of the library may have called each other, Fortran's procedures above all. The name of the
// function is in that library.
const void* call_of_program(const wait_note& n) noexcept {
  if (const sched::worker* const here = sched::this_worker(); here != nullptr)
    if (const void* const from = ranks_of(*here).here(n.rank).fortran_call; from != nullptr) return from;
  return n.called_from == nullptr || machine::symbols::in_same_file(n.called_from, n.function) ? nullptr
                                                                                               : n.called_from;
}

}  // namespace

detail::wait_description wait_note::describe_wait(const described_wait& self) {
  const auto& n = static_cast<const wait_note&>(self);
  const std::string where = n.where == nullptr ? std::string() : " in " + n.where->shown_name();
  detail::wait_description d{n.rank, n.function == nullptr ? "a call" : n.function, call_of_program(n), "its requests"};
  using enum wait_note::kind;
  switch (n.what) {
    case receive:
      d.waits_for = fmt::format("a message of {} with {}{}", peer_text(n.peer), tag_text(n.tag), where);
      break;
    case probe:
      d.waits_for = fmt::format("any message of {} with {}{}", peer_text(n.peer), tag_text(n.tag), where);
      break;
    case send:
      d.waits_for = fmt::format("{} to receive its message with {}{}", peer_text(n.peer), tag_text(n.tag), where);
      break;
    case collective: d.waits_for = fmt::format("the other members' calls{}", where); break;
    case some_request: break;
  }
  return d;
}

detail::wait_description other_wait::describe_wait(const described_wait& self) {
  const auto& w = static_cast<const other_wait&>(self);
  return {w.rank, w.call, nullptr, w.waits_for};
}

}  // namespace shoal::rank
