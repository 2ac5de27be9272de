// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/making.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "rank/abi/arguments.hpp"
#include "rank/communicator_table.hpp"

namespace shoal::rank::abi {

MPI_Comm handle_of_communicator(const rank_state& me, communicator& in) noexcept {
  if (&in == &me.job.world()) return MPI_COMM_WORLD;
  if (&in == me.self.get()) return MPI_COMM_SELF;
  return handle_of<MPI_Comm>(in);
}

info_pairs pairs_of(MPI_Info h) {
  return h == MPI_INFO_NULL || h == MPI_INFO_ENV ? info_pairs() : object_of<info>(h).pairs();
}

context_id new_context(rank_state& me) { return numbered_context(me.world, me.next_serial++); }

namespace {

MPI_Comm take_part(const caller& c, const communicator_ref& made) {
  made->add_reference();  // the handle's
  made->member(c.me).active = true;
  return handle_of<MPI_Comm>(*made);
}

}  // namespace

MPI_Comm join(caller& c, context_id context, const group_ref& local, const group_ref& remote) {
  if (local->rank_of(c.me.world) < 0) return MPI_COMM_NULL;
  return take_part(c, c.me.job.communicators().make(c.me.job, context, local, remote));
}

MPI_Comm inherit(caller& c, communicator& parent, MPI_Comm made) {
  if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).errors = parent.member(c.me).errors;
  return made;
}

namespace {

// What the members of the two groups give; of an ordinary communicator the second is empty.
struct given_values {
  agreed_values shared;
  std::vector<std::int64_t> own;
  std::span<const std::int64_t> local, remote;
};

given_values gather(caller& c, communicator& in, std::span<const std::int64_t> mine) {
  given_values all;
  all.shared = all_gather(c, in, mine);
  all.local = *all.shared;
  if (!in.is_inter()) return all;
  // Each group knows what the other one gave, and its first member says it.
  std::vector<std::int64_t> others = *all.shared;
  all.own.resize(mine.size() * static_cast<std::size_t>(in.size()));
  const int first = in.rank_of(c.me) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (const bool from_upper : {false, true}) {
    const bool says = in.is_upper() == from_upper;
    broadcast(c, in, says ? first : 0, says ? others : all.own);
  }
  all.local = all.own;
  all.remote = *all.shared;
  return all;
}

// Of a list of values, so many of each rank.
struct values_of {
  std::span<const std::int64_t> all;
  std::size_t each;
  std::int64_t operator()(int rank, std::size_t which) const noexcept {
    return all[static_cast<std::size_t>(rank) * each + which];
  }
  int ranks() const noexcept { return static_cast<int>(all.size() / each); }
};

// Value 0 is a color, value 1 a key.
std::vector<int> of_color(const values_of& given, int color) {
  std::vector<std::pair<std::int64_t, int>> chosen;  // key, rank
  for (int r = 0; r < given.ranks(); ++r)
    if (given(r, 0) == color) chosen.emplace_back(given(r, 1), r);
  std::ranges::sort(chosen);
  std::vector<int> ranks;
  for (const auto& [unused, r] : chosen) ranks.push_back(r);
  return ranks;
}

group_ref chosen_of(const group& from, const std::vector<int>& ranks) {
  std::vector<int> world;
  for (const int r : ranks) world.push_back(from.world_of(r));
  return group::of_ranks(std::move(world));
}

void check_members(const communicator& in, const group& members) {
  for (int r = 0; r < members.size(); ++r)
    if (in.local().rank_of(members.world_of(r)) < 0)
      throw mpi_error(MPI_ERR_GROUP, "the group has ranks that are no members of the communicator");
}

}  // namespace

MPI_Comm split(caller& c, communicator& in, int color, int key) {
  if (color < 0 && color != MPI_UNDEFINED) throw mpi_error(MPI_ERR_ARG, fmt::format("the color is {}, below 0", color));
  const std::int64_t mine[] = {color, key, static_cast<std::int64_t>(new_context(c.me))};
  const given_values all = gather(c, in, mine);
  if (color == MPI_UNDEFINED) return MPI_COMM_NULL;
  const values_of ours{all.local, 3}, theirs{all.remote, 3};
  if (!in.is_inter()) {
    const std::vector<int>& ranks = all.shared->by_color(3).at(color);
    const auto number = static_cast<context_id>(ours(ranks.front(), 2));
    // The first of this process makes it.
    if (const communicator_ref made = c.me.job.communicators().find(number); made)
      return inherit(c, in, take_part(c, made));
    return inherit(c, in, join(c, number, chosen_of(in.local(), ranks), nullptr));
  }
  const std::vector<int> here = of_color(ours, color), there = of_color(theirs, color);
  if (there.empty()) return MPI_COMM_NULL;
  // The first of them numbers it, in the lower group.
  const std::int64_t context = in.is_upper() ? theirs(there.front(), 2) : ours(here.front(), 2);
  return inherit(c, in,
                 join(c, static_cast<context_id>(context), chosen_of(in.local(), here), chosen_of(in.remote(), there)));
}

MPI_Comm create(caller& c, communicator& in, const group_ref& members) {
  check_members(in, *members);
  const int place = members->rank_of(c.me.world);
  const std::int64_t mine[] = {place < 0 ? -1 : 0, place, static_cast<std::int64_t>(new_context(c.me))};
  const given_values all = gather(c, in, mine);
  if (place < 0) return MPI_COMM_NULL;
  const values_of ours{all.local, 3}, theirs{all.remote, 3};
  const std::vector<int> there = of_color(theirs, 0);
  if (in.is_inter() && there.empty()) return MPI_COMM_NULL;
  const int leader = in.local().rank_of(members->world_of(0));
  const std::int64_t context = in.is_upper() ? theirs(there.front(), 2) : ours(leader, 2);
  return inherit(
      c, in,
      join(c, static_cast<context_id>(context), members, in.is_inter() ? chosen_of(in.remote(), there) : nullptr));
}

MPI_Comm create_with(caller& c, communicator& in, const std::vector<int>& ranks,
                     std::shared_ptr<const topology> neighbours) {
  std::vector<int> world;
  for (const int r : ranks) world.push_back(in.local().world_of(r));
  const MPI_Comm made = create(c, in, group::of_ranks(std::move(world)));
  if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).neighbours = std::move(neighbours);
  return made;
}

namespace {

// What the two leaders of a new intercommunicator tell each other: size, context, then the ranks of the world.
std::vector<std::int64_t> exchange_groups(caller& c, communicator& peer, int remote_leader, const making_tag& tag,
                                          std::span<const std::int64_t> mine) {
  std::int64_t other_size[1];
  const std::int64_t own_size[] = {static_cast<std::int64_t>(mine.size())};
  const bool first = peer.rank_of(c.me) < remote_leader;
  const auto both = [&](std::span<const std::int64_t> out, std::span<std::int64_t> in) {
    if (first) send(c, peer, remote_leader, tag, out);
    receive(c, peer, remote_leader, tag, in);
    if (!first) send(c, peer, remote_leader, tag, out);
  };
  both(own_size, other_size);
  std::vector<std::int64_t> other(static_cast<std::size_t>(other_size[0]));
  both(mine, other);
  return other;
}

}  // namespace

MPI_Comm connect(caller& c, communicator& local, int local_leader, MPI_Comm peer_handle, int remote_leader,
                 const making_tag& tag) {
  if (local_leader < 0 || local_leader >= local.size())
    throw mpi_error(MPI_ERR_RANK, fmt::format("the local leader {} is not in 0 to {}", local_leader, local.size() - 1));
  std::vector<std::int64_t> mine{static_cast<std::int64_t>(new_context(c.me))};
  for (int r = 0; r < local.size(); ++r) mine.push_back(local.local().world_of(r));
  std::vector<std::int64_t> others;
  std::int64_t sizes[] = {0, 0};
  std::optional<mpi_error> failure;  // of the leader: the others go on
  if (local.rank_of(c.me) == local_leader) try {
      communicator& peer = communicator_of(c.me, peer_handle);
      if (remote_leader < 0 || remote_leader >= peer.remote().size())
        throw mpi_error(MPI_ERR_RANK,
                        fmt::format("the remote leader {} is not in 0 to {}", remote_leader, peer.remote().size() - 1));
      others = exchange_groups(c, peer, remote_leader, tag, mine);
      // The leader whose group begins lower in the world numbers it.
      sizes[0] = static_cast<std::int64_t>(others.size());
      sizes[1] = mine[1] < others[1] ? mine[0] : others[0];
    } catch (const mpi_error& e) {
      failure = e;
      sizes[1] = e.code();
    }
  broadcast(c, local, local_leader, sizes);
  if (failure) throw mpi_error(*failure);
  if (sizes[0] == 0) throw mpi_error(static_cast<int>(sizes[1]), "the leader cannot reach that of the other group");
  others.resize(static_cast<std::size_t>(sizes[0]));
  broadcast(c, local, local_leader, others);
  std::vector<int> world(others.begin() + 1, others.end());
  for (const int w : world)
    if (local.local().rank_of(w) >= 0) throw mpi_error(MPI_ERR_COMM, "the two groups have ranks in common");
  return inherit(c, local,
                 join(c, static_cast<context_id>(sizes[1]), local.local_ref(), group::of_ranks(std::move(world))));
}

MPI_Comm create_of(caller& c, communicator& in, const group_ref& members, const making_tag& tag) {
  check_members(in, *members);
  if (members->rank_of(c.me.world) < 0) return MPI_COMM_NULL;
  std::int64_t context[] = {static_cast<std::int64_t>(new_context(c.me))};
  const int leader = in.local().rank_of(members->world_of(0));
  if (members->world_of(0) == c.me.world) {
    for (int r = 1; r < members->size(); ++r) send(c, in, in.local().rank_of(members->world_of(r)), tag, context);
  } else {
    receive(c, in, leader, tag, context);
  }
  return inherit(c, in, join(c, static_cast<context_id>(context[0]), members, nullptr));
}

}  // namespace shoal::rank::abi
