// SPDX-License-Identifier: Apache-2.0
// Communicators: making, freeing, what they are (MPI 5.0, chapter 7).
#include <algorithm>

#include "rank/abi/arguments.hpp"
#include "rank/abi/making.hpp"
#include "rank/abi/text_argument.hpp"
#include "rank/collectives.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

group_ref group_of(MPI_Group h) {
  if (h == MPI_GROUP_EMPTY) return group::of_range(0, 0);
  return group_ref(&object_of<group>(h));
}

MPI_Group new_handle(const group_ref& g) {
  if (g->size() == 0) return MPI_GROUP_EMPTY;
  g.get()->add_reference();
  return handle_of<MPI_Group>(*g.get());
}

void free_member(caller& c, communicator& in) {
  member_state& m = in.member(c.me);
  m.attributes.erase_all(c.me.keys, attribute_key::kind::communicator, handle_of_communicator(c.me, in));
  m.active = false;
  m.neighbours = {};
  if (m.uses == 0) in.drop_reference();  // or the last operation does
}

void check_may_end(const caller& c, const communicator& in) {
  if (&in == &c.me.job.world() || &in == c.me.self.get())
    throw mpi_error(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
}

MPI_Comm merge(caller& c, communicator& in, int high) {
  if (!in.is_inter()) throw mpi_error(MPI_ERR_COMM, "only intercommunicators can be merged");
  const std::int64_t mine[] = {high != 0, static_cast<std::int64_t>(new_context(c.me))};
  const agreed_values others = all_gather(c, in, mine);
  const std::int64_t known[] = {in.is_upper() ? (*others)[1] : 0};
  const agreed_values back = all_gather(c, in, known);
  const auto context = static_cast<context_id>(in.is_upper() ? (*others)[1] : (*back)[0]);
  const bool other_high = (*others)[0] != 0;
  const bool first = (high != 0) != other_high ? high == 0 : !in.is_upper();
  const group& one = first ? in.local() : in.remote();
  const group& two = first ? in.remote() : in.local();
  return inherit(c, in, join(c, context, united(one, two), nullptr));
}

// Of what a rank shares with others: the memory of a machine, or a process of it.
int color_of(const rank_state& me, int split_type, MPI_Info hints) {
  if (split_type == MPI_COMM_TYPE_SHARED) return me.job.machine();
  if (split_type != MPI_COMM_TYPE_HW_GUIDED && split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) return MPI_UNDEFINED;
  for (const auto& [key, value] : pairs_of(hints))
    if (key == "mpi_hw_resource_type") {
      if (value == "mpi_shared_memory" || value == k_machine_resource) return me.job.machine();
      if (value == k_process_resource) return static_cast<int>(me.job.form().node);
    }
  return MPI_UNDEFINED;
}

}  // namespace

extern "C" {

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  return enter(comm, [&](caller& c, communicator& in) { output(rank) = in.rank_of(c.me); });
}
MPI_ABI_ALIAS(Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  return enter(comm, [&](caller&, communicator& in) { output(size) = in.size(); });
}
MPI_ABI_ALIAS(Comm_size)

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  return enter(comm, [&](caller&, communicator& in) {
    if (!in.is_inter()) throw mpi_error(MPI_ERR_COMM, "only an intercommunicator has a remote group");
    output(size) = in.remote().size();
  });
}
MPI_ABI_ALIAS(Comm_remote_size)

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return enter(comm, [&](caller&, communicator& in) { output(flag) = in.is_inter() ? 1 : 0; });
}
MPI_ABI_ALIAS(Comm_test_inter)

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* result) {
  return enter(comm, [&](caller&, communicator& in) { output(result) = new_handle(in.local_ref()); });
}
MPI_ABI_ALIAS(Comm_group)

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* result) {
  return enter(comm, [&](caller&, communicator& in) {
    if (!in.is_inter()) throw mpi_error(MPI_ERR_COMM, "only an intercommunicator has a remote group");
    output(result) = new_handle(in.remote_ref());
  });
}
MPI_ABI_ALIAS(Comm_remote_group)

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  return enter(comm1, [&](caller& c, communicator& one) {
    communicator& other = communicator_of(c.me, comm2);
    int& is = output(result);
    if (&one == &other) {
      is = MPI_IDENT;
      return;
    }
    if (one.is_inter() != other.is_inter()) {
      is = MPI_UNEQUAL;
      return;
    }
    const int local = compare(one.local(), other.local());
    const int remote = one.is_inter() ? compare(one.remote(), other.remote()) : MPI_IDENT;
    is = local == MPI_UNEQUAL || remote == MPI_UNEQUAL ? MPI_UNEQUAL
         : local == MPI_IDENT && remote == MPI_IDENT   ? MPI_CONGRUENT
                                                       : MPI_SIMILAR;
  });
}
MPI_ABI_ALIAS(Comm_compare)

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) { output(newcomm) = split(c, in, color, key); });
}
MPI_ABI_ALIAS(Comm_split)

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info hints, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Comm& made = output(newcomm);
    if (split_type != MPI_UNDEFINED && split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_COMM_TYPE_HW_GUIDED &&
        split_type != MPI_COMM_TYPE_HW_UNGUIDED && split_type != MPI_COMM_TYPE_RESOURCE_GUIDED)
      throw mpi_error(MPI_ERR_ARG, fmt::format("{} is no way to split a communicator", split_type));
    made = split(c, in, color_of(c.me, split_type, hints), key);
  });
}
MPI_ABI_ALIAS(Comm_split_type)

int PMPI_Comm_create(MPI_Comm comm, MPI_Group members, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) { output(newcomm) = create(c, in, group_of(members)); });
}
MPI_ABI_ALIAS(Comm_create)

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group members, int tag, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) {
    output(newcomm) = create_of(c, in, group_of(members), {making::of_members, tag});
  });
}
MPI_ABI_ALIAS(Comm_create_group)

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm* newintercomm) {
  return enter(local_comm, [&](caller& c, communicator& in) {
    output(newintercomm) = connect(c, in, local_leader, peer_comm, remote_leader, {making::bridge, tag});
  });
}
MPI_ABI_ALIAS(Intercomm_create)

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return enter(intercomm, [&](caller& c, communicator& in) { output(newintracomm) = merge(c, in, high); });
}
MPI_ABI_ALIAS(Intercomm_merge)

int PMPI_Comm_free(MPI_Comm* comm) {
  return enter([&](caller& c, communicator*& where) {
    communicator& in = communicator_of(c.me, output(comm));
    where = &in;
    check_may_end(c, in);
    const communicator_ref kept(&in);
    free_member(c, in);
    where = nullptr;
    *comm = MPI_COMM_NULL;
  });
}
MPI_ABI_ALIAS(Comm_free)

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return enter([&](caller& c, communicator*& where) {
    communicator& in = communicator_of(c.me, output(comm));
    where = &in;
    check_may_end(c, in);
    const communicator_ref kept(&in);
    static_cast<void>(run_barrier(c.me, in, c.note(wait_note::kind::collective, &in)));
    free_member(c, in);
    where = nullptr;
    *comm = MPI_COMM_NULL;
  });
}
MPI_ABI_ALIAS(Comm_disconnect)

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  return enter([&](caller&) { output(parent) = MPI_COMM_NULL; });
}
MPI_ABI_ALIAS(Comm_get_parent)

int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  return enter(
      comm, [&](caller& c, communicator& in) { in.member(c.me).name = checked_text(comm_name, MPI_MAX_OBJECT_NAME); });
}
MPI_ABI_ALIAS(Comm_set_name)

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  return enter(comm, [&](caller& c, communicator& in) {
    give_text(in.member(c.me).name, comm_name, MPI_MAX_OBJECT_NAME, resultlen);
  });
}
MPI_ABI_ALIAS(Comm_get_name)

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info hints) {
  return enter(comm, [&](caller& c, communicator& in) { in.member(c.me).hints = pairs_of(hints); });
}
MPI_ABI_ALIAS(Comm_set_info)

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Info& made = output(info_used);
    made = handle_of<MPI_Info>(*new info(in.member(c.me).hints));
  });
}
MPI_ABI_ALIAS(Comm_get_info)
}
