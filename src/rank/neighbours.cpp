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
int tag_of(const topology& t, std::size_t slot, bool sends) noexcept {
  constexpr int k_own = 1 << 26;
  if (t.kind != MPI_CART) return k_own;
  return k_own + static_cast<int>(sends ? slot : slot ^ 1);
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
                           {&in, from[i], tag_of(*t, i, false), true}));
  for (std::size_t i = 0; i < to.size(); ++i)
    join(r, begin_send(me, c.kind == collective::all_gather ? c.send : c.sent.block(static_cast<int>(i), c.send),
                       {&in, to[i], tag_of(*t, i, true), true}, send_mode::standard));
  join(r, nullptr);
}

}  // namespace shoal::rank
