// SPDX-License-Identifier: Apache-2.0
#include "rank/leader_link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rank/collective_sites.hpp"
#include "rank/communicator_table.hpp"
#include "rank/error.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::rank {
namespace {

// Contexts of messages between leaders: never those of a communicator or of its members' own messages.
constexpr context_id k_between_leaders = context_id{1} << 63;

// A tag: what operation it is, its number, and the step. Messages of operations that do not fit together never meet.
constexpr unsigned k_step_bits = 8;
constexpr unsigned k_sequence_bits = 14;
constexpr unsigned k_choice_bits = 5;
constexpr unsigned k_operation_bits = k_sequence_bits + k_step_bits;
// Persistent operations have a context of their own, and their numbers the bits of the choice too. Starts of one need no
// number: its messages are the same each time, and arrive in order.

std::uint32_t place_in(std::span<const int> leaders, const job_ranks& job, int world) noexcept {
  const auto at = std::ranges::lower_bound(leaders, job.node_of(world), {}, [&job](int w) { return job.node_of(w); });
  return static_cast<std::uint32_t>(at - leaders.begin());
}

buffer bytes_of(std::span<const std::byte> s) noexcept {
  return {const_cast<std::byte*>(s.data()), static_cast<MPI_Count>(s.size()), nullptr};
}

// What all members must choose alike: the root and a predefined operation.
std::uint32_t choice_of(const communicator& in, const collective_call& call) noexcept {
  if (in.is_inter()) return 0;
  const auto op = reinterpret_cast<std::uintptr_t>(call.op.handle());
  return static_cast<std::uint32_t>(call.root) * 7 +
         (is_predefined(call.op.handle()) ? static_cast<std::uint32_t>(op) : 0);
}

std::uint32_t operation_of(const communicator& in, std::uint64_t sequence, const collective_call& call) noexcept {
  static_assert(static_cast<unsigned>(collective::exscan) < 16);
  const auto kind = static_cast<std::uint32_t>(call.kind) << (k_choice_bits + k_sequence_bits);
  if ((sequence & k_persistent_collective) != 0)
    return kind | static_cast<std::uint32_t>((sequence >> 1) % (1U << (k_choice_bits + k_sequence_bits)));
  const std::uint32_t choice = choice_of(in, call) % (1U << k_choice_bits);
  return kind | choice << k_sequence_bits | static_cast<std::uint32_t>(sequence % (1U << k_sequence_bits));
}

context_id context_of(const communicator& in, std::uint64_t sequence) noexcept {
  const context_id own = (sequence & k_persistent_collective) != 0 ? k_persistent_context : 0;
  return in.context() | own | 1 | k_between_leaders;
}

collective kind_of(std::int32_t tag) noexcept {
  return static_cast<collective>(static_cast<std::uint32_t>(tag) >> (k_choice_bits + k_operation_bits));
}

}  // namespace

struct leader_link::wait final : wait_note {
  explicit wait(const leader_link& of) noexcept
      : wait_note(of.in_.context() == k_closing_context ? "MPI_Finalize" : name_of(of.kind_), of.leader_.world, &of.in_,
                  0, 0, kind::collective, nullptr),
        link(of) {
    if (const rank_state* const runs = current_rank(); runs != nullptr && runs != &of.leader_) {
      rank = runs->world;
      called_from = runs->carries_out_for;
    }
    describe = say;
  }
  static detail::wait_description say(const described_wait& self) {
    const auto& w = static_cast<const wait&>(self);
    detail::wait_description d = describe_wait(self);
    const std::uint32_t own = w.link.operation_;
    w.link.leader_.queues.for_each_message([&](const envelope& sent) {
      const std::uint32_t other = static_cast<std::uint32_t>(sent.tag) >> k_step_bits;
      if (sent.context == w.link.context_ && other != own && (other ^ own) % (1U << k_sequence_bits) == 0)
        d.waits_for +=
            fmt::format("; but the process of rank {} has called {}{}", sent.source, name_of(kind_of(sent.tag)),
                        kind_of(sent.tag) == w.link.kind_ ? " with another root or operation" : "");
    });
    return d;
  }
  const leader_link& link;
};

leader_link::leader_link(rank_state& leader, const communicator& in, std::uint64_t sequence,
                         const collective_call& call)
    : link(place_in(in.leaders(), leader.job, leader.world), static_cast<std::uint32_t>(in.leaders().size()),
           leader.home.port->context->algorithms),
      leader_(leader),
      in_(in),
      kind_(call.kind),
      context_(context_of(in, sequence)),
      operation_(operation_of(in, sequence, call)) {}

leader_link::~leader_link() { expect_no_more(); }

// After an error nobody may send it.
void leader_link::expect_no_more() {
  for (const auto& [unused, r] : expected_) {
    static_cast<void>(cancel_receive(*r));
    finish(*r);
  }
  expected_.clear();
}

std::uint32_t leader_link::place_of(int world) const noexcept { return place_in(in_.leaders(), leader_.job, world); }

route leader_link::route_to(std::uint32_t member, std::uint32_t step) const noexcept {
  const int tag = static_cast<int>(operation_ << k_step_bits | step);
  return {&leader_.job.world(), in_.leaders()[member], tag, true, context_};
}

void leader_link::await(request& r) {
  if (r.complete) return;
  waiter w;
  r.awaited = &w;
  const wait note(*this);
  w.await(note);
  r.awaited = nullptr;
}

void leader_link::finish(request& r) {
  await(r);
  leader_.pool.give_back(r);
}

void leader_link::expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) {
  expected_[{from, step}] = &begin_receive(leader_, bytes_of(target), route_to(from, step));
}

void leader_link::await(std::uint32_t from, std::uint32_t step) {
  const auto at = expected_.find({from, step});
  request& r = *at->second;
  expected_.erase(at);
  await(r);
  const bool fits = r.error == MPI_SUCCESS && r.bytes == r.data.bytes();
  finish(r);
  if (fits) return;
  expect_no_more();
  throw mpi_error(MPI_ERR_TRUNCATE, fmt::format("the process of rank {} gives another number of bytes than that of "
                                                "rank {}",
                                                in_.leaders()[from], leader_.world));
}

void leader_link::send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) {
  if (request* const r = begin_send(leader_, bytes_of(bytes), route_to(to, step), send_mode::standard); r != nullptr)
    finish(*r);
}

std::optional<std::string> stray_message(const rank_state& me) {
  std::optional<std::string> found;
  me.queues.for_each_message([&](const envelope& sent) {
    if ((sent.context & k_between_leaders) == 0 || found) return;
    found = fmt::format(
        "members of a communicator have called different collective operations, or with different roots: "
        "nobody has taken what the process of rank {} has sent in an {}",
        sent.source, name_of(kind_of(sent.tag)));
  });
  return found;
}

}  // namespace shoal::rank
