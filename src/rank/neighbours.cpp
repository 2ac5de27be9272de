// SPDX-License-Identifier: Apache-2.0
#include "rank/neighbours.hpp"

#include <vector>

#include "rank/collective_call.hpp"
#include "rank/error.hpp"
#include "rank/rank.hpp"
#include "rank/transfer.hpp"

namespace shoal::rank {
namespace {

// In a grid, what is sent downwards in a dimension arrives from above, also where both neighbours are one rank. In
// graphs the order of messages between two ranks decides.
std::size_t slot_of(const topology& t, std::size_t neighbour, bool sends) noexcept {
  if (t.kind != MPI_CART) return 0;
  return sends ? neighbour : neighbour ^ 1;
}

// Persistent operations have a context of their own, and their number in the tag: their starts need no order.
route route_to(const request& r, int peer, std::size_t slot) noexcept {
  constexpr int k_own = 1 << 26;
  communicator& in = *r.where;
  if (!r.persistent || peer == MPI_PROC_NULL) return {&in, peer, k_own + static_cast<int>(slot), true};
  constexpr unsigned k_slot_bits = 12, k_number_bits = 18;
  const std::uint64_t number = r.call->number % (std::uint64_t{1} << k_number_bits);
  return {&in.job().world(), in.local().world_of(peer), static_cast<int>(number << k_slot_bits | slot), true,
          in.context() | k_persistent_context | 1};
}

}  // namespace

void begin_neighbours(request& r) {
  rank_state& me = *r.owner;
  communicator& in = *r.where;
  const topology* const t = in.member(me).neighbours.get();
  if (t == nullptr) throw mpi_error(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  const int rank = in.rank_of(me);
  const std::vector<int> from = t->receives_at(rank);
  const std::vector<int> to = t->sends_from(rank);
  const collective_call& c = *r.call;
  r.complete = false;
  r.error = MPI_SUCCESS;
  r.parts = static_cast<unsigned>(from.size() + to.size() + 1);  // one for this function
  for (std::size_t i = 0; i < from.size(); ++i)
    join(r, &begin_receive(me, c.received.block(static_cast<int>(i), c.receive),
                           route_to(r, from[i], slot_of(*t, i, false))));
  for (std::size_t i = 0; i < to.size(); ++i)
    join(r, begin_send(me, c.kind == collective::all_gather ? c.send : c.sent.block(static_cast<int>(i), c.send),
                       route_to(r, to[i], slot_of(*t, i, true)), send_mode::standard));
  join(r, nullptr);
}

}  // namespace shoal::rank
