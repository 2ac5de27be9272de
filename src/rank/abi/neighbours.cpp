// SPDX-License-Identifier: Apache-2.0
// Neighbourhood collectives (MPI 5.0, 8.6 to 8.9).
#include "rank/neighbours.hpp"
#include "rank/abi/arguments.hpp"
#include "rank/abi/collective_forms.hpp"
#include "rank/collective_call.hpp"
#include "rank/topology.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

template <class Count, class Place>
block_list lists(buffer& base, const void* at, const Count* counts, const Place* places, MPI_Datatype type) {
  base = {const_cast<void*>(at), 0, &committed_type(type)};
  return {counts, places, nullptr, sizeof(Count) == sizeof(MPI_Count), sizeof(Place) == sizeof(MPI_Aint)};
}

template <class Count>
block_list lists_of_types(buffer& base, const void* at, const Count* counts, const MPI_Aint* places,
                          const MPI_Datatype* types) {
  base = {const_cast<void*>(at), 0, &type_of(MPI_BYTE)};
  return {counts, places, types, sizeof(Count) == sizeof(MPI_Count), true};
}

template <class Fill>
request& prepare(caller& c, communicator& in, collective kind, const Fill& fill) {
  request& r = c.me.pool.take(c.me, request_kind::composite);
  r.where = communicator_use(in, c.me);
  new_call(r) = {};
  r.call->kind = kind;
  r.begin = begin_neighbours;
  try {
    fill(*r.call);
    if (in.member(c.me).neighbours == nullptr) throw mpi_error(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  } catch (...) {
    c.me.pool.give_back(r);
    throw;
  }
  return r;
}

template <class Fill>
void run(caller& c, communicator& in, collective kind, const Fill& fill) {
  request& r = prepare(c, in, kind, fill);
  begin_neighbours(r);
  await(c, r, wait_note::kind::collective);
  const int error = r.error;
  c.me.pool.give_back(r);
  if (error != MPI_SUCCESS) throw mpi_error(error, "a neighbour gives more than this rank takes");
}

template <class Fill>
MPI_Request begin(caller& c, communicator& in, collective kind, const Fill& fill) {
  request& r = prepare(c, in, kind, fill);
  begin_neighbours(r);
  return handle_of<MPI_Request>(r);
}

template <class Fill>
MPI_Request prepare_persistent(caller& c, communicator& in, collective kind, const Fill& fill) {
  request& r = prepare(c, in, kind, fill);
  const topology& t = *in.member(c.me).neighbours;
  const int rank = in.rank_of(c.me);
  keep_arguments(*r.call, static_cast<int>(t.sends_from(rank).size()), static_cast<int>(t.receives_at(rank).size()));
  r.call->number = in.member(c.me).persistent_collectives++;
  r.persistent = r.complete = true;
  r.active = false;
  return handle_of<MPI_Request>(r);
}

using arguments = collective_call;

}  // namespace

extern "C" {

#include "rank/abi/narrow.inc"

#include "rank/abi/neighbours.inc"

#include "rank/abi/large.inc"

#include "rank/abi/neighbours.inc"
}
