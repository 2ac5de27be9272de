// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/making.hpp"

#include <algorithm>
#include <tuple>

#include "rank/abi/arguments.hpp"
#include "rank/communicator_table.hpp"

namespace shoal::rank::abi {

MPI_Comm handle_of_communicator(const rank_state& me, communicator& in) noexcept {
  if (&in == &me.job.world()) return MPI_COMM_WORLD;
  if (&in == me.self.get()) return MPI_COMM_SELF;
  return handle_of<MPI_Comm>(in);
}

context_id new_context(rank_state& me) { return numbered_context(me.world, me.next_serial++); }

MPI_Comm join(caller& c, context_id context, const group_ref& local, const group_ref& remote) {
  if (local->rank_of(c.me.world) < 0) return MPI_COMM_NULL;
  const communicator_ref made = c.me.job.communicators().make(c.me.job, context, local, remote);
  made->add_reference();  // the handle's
  member_state& m = made->member(c.me);
  m.active = true;
  return handle_of<MPI_Comm>(*made);
}

namespace {

// Errors of a new communicator go where those of its parent go.
MPI_Comm inherit(caller& c, communicator& parent, MPI_Comm made) {
  if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).errors = parent.member(c.me).errors;
  return made;
}

}  // namespace

MPI_Comm split(caller& c, communicator& in, int color, int key) {
  if (color < 0 && color != MPI_UNDEFINED) throw mpi_error(MPI_ERR_ARG, fmt::format("the color is {}, below 0", color));
  const std::int64_t mine[] = {color, key, static_cast<std::int64_t>(new_context(c.me))};
  // Of an intercommunicator each group is split by itself, and needs to know the other's part, too.
  if (in.is_inter()) throw mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "an intercommunicator cannot be split yet");
  const std::vector<std::int64_t> all = all_gather(c, in, mine);
  if (color == MPI_UNDEFINED) return MPI_COMM_NULL;
  std::vector<std::pair<std::int64_t, int>> chosen;  // key, rank
  for (int r = 0; r < in.size(); ++r)
    if (all[static_cast<std::size_t>(r) * 3] == color) chosen.emplace_back(all[static_cast<std::size_t>(r) * 3 + 1], r);
  std::ranges::sort(chosen);
  std::vector<int> world;
  for (const auto& [unused, r] : chosen) world.push_back(in.local().world_of(r));
  const auto context = static_cast<context_id>(all[static_cast<std::size_t>(chosen.front().second) * 3 + 2]);
  return inherit(c, in, join(c, context, group::of_ranks(std::move(world)), nullptr));
}

MPI_Comm create(caller& c, communicator& in, const group_ref& members) {
  for (int r = 0; r < members->size(); ++r)
    if (in.local().rank_of(members->world_of(r)) < 0)
      throw mpi_error(MPI_ERR_GROUP, "the group has ranks that are no members of the communicator");
  const std::int64_t mine[] = {static_cast<std::int64_t>(new_context(c.me))};
  if (in.is_inter()) throw mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, "an intercommunicator cannot be divided yet");
  const std::vector<std::int64_t> all = all_gather(c, in, mine);
  if (members->size() == 0 || members->rank_of(c.me.world) < 0) return MPI_COMM_NULL;
  const int leader = in.local().rank_of(members->world_of(0));
  return inherit(c, in, join(c, static_cast<context_id>(all[static_cast<std::size_t>(leader)]), members, nullptr));
}

MPI_Comm create_with(caller& c, communicator& in, const std::vector<int>& ranks,
                     std::shared_ptr<const topology> neighbours) {
  std::vector<int> world;
  for (const int r : ranks) world.push_back(in.local().world_of(r));
  const MPI_Comm made = create(c, in, group::of_ranks(std::move(world)));
  if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).neighbours = std::move(neighbours);
  return made;
}

MPI_Comm duplicate(caller& c, communicator& in) {
  std::int64_t context[] = {static_cast<std::int64_t>(new_context(c.me))};
  if (in.is_inter()) {  // the number of the lower group's leader, which the upper group sends back
    const std::vector<std::int64_t> of_others = all_gather(c, in, context);
    const std::int64_t known[] = {in.is_upper() ? of_others[0] : 0};
    const std::vector<std::int64_t> back = all_gather(c, in, known);
    context[0] = in.is_upper() ? of_others[0] : back[0];
  } else {
    broadcast(c, in, 0, context);
  }
  const MPI_Comm made = inherit(c, in, join(c, static_cast<context_id>(context[0]), in.local_ref(), in.remote_ref()));
  member_state& m = communicator_of(c.me, made).member(c.me);
  const member_state& old = in.member(c.me);
  m.neighbours = old.neighbours;
  m.hints = old.hints;
  m.attributes.copy(c.me.keys, attribute_key::kind::communicator, handle_of_communicator(c.me, in), old.attributes);
  return made;
}

}  // namespace shoal::rank::abi
