// SPDX-License-Identifier: Apache-2.0
// Collective operations (MPI 5.0, chapter 6).
#include <functional>

#include "rank/abi/arguments.hpp"
#include "rank/abi/collective_forms.hpp"
#include "rank/collectives.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

// What a call's arguments are taken from.
struct arguments {
  collective_call& call;
  communicator& in;

  bool is_root() const noexcept { return in.is_inter() ? call.root == MPI_ROOT : call.root == call.rank; }
  /// Whether this rank is one of those that the root gathers from or scatters to.
  bool gives() const noexcept { return !in.is_inter() || call.root >= 0; }
  bool takes_part() const noexcept { return call.root != MPI_PROC_NULL; }
};

void take_root(arguments& a, int root) {
  const int ranks = a.in.remote().size();
  const bool special = a.in.is_inter() && (root == MPI_ROOT || root == MPI_PROC_NULL);
  if (!special && (root < 0 || root >= ranks))
    throw mpi_error(MPI_ERR_ROOT, fmt::format("root {} is not in 0 to {}", root, ranks - 1));
  a.call.root = root;
}

bool is_in_place(const arguments& a, const void* at) {
  if (at != MPI_IN_PLACE) return false;
  if (a.in.is_inter()) throw mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE is not for intercommunicators");
  return true;
}

void take_send(arguments& a, const void* at, MPI_Count count, MPI_Datatype type) {
  a.call.in_place = is_in_place(a, at);
  if (a.call.in_place && a.call.kind == collective::gather && !a.is_root())
    throw mpi_error(MPI_ERR_BUFFER, "only the root may give MPI_IN_PLACE");
  if (!a.call.in_place) a.call.send = checked_buffer(at, count, type);
}

void take_receive(arguments& a, void* at, MPI_Count count, MPI_Datatype type) {
  a.call.in_place = is_in_place(a, at);
  if (a.call.in_place && !a.is_root()) throw mpi_error(MPI_ERR_BUFFER, "only the root may give MPI_IN_PLACE");
  if (!a.call.in_place) a.call.receive = checked_buffer(at, count, type);
}

void take_operation(arguments& a, MPI_Op op, MPI_Datatype type) {
  a.call.op = operation_ref(op);
  a.call.op.check(committed_type(type));
}

void take_summand(arguments& a, const void* at, MPI_Count count, MPI_Datatype type, bool may_be_in_place) {
  a.call.in_place = is_in_place(a, at);
  if (a.call.in_place && !may_be_in_place) throw mpi_error(MPI_ERR_BUFFER, "only the root may give MPI_IN_PLACE");
  if (!a.call.in_place) a.call.send = checked_buffer(at, count, type);
}

// `all`: elements to reduce. In place they are where the results go.
void take_summands(arguments& a, const void* at, void* results, MPI_Count all, MPI_Datatype type) {
  if (a.call.results < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", a.call.results));
  take_summand(a, at, all, type, true);
  a.call.receive = checked_buffer(results, a.call.in_place ? all : a.call.results, type);
}

template <class Count>
block_list counts_only(const Count* counts) noexcept {
  return {counts, nullptr, nullptr, sizeof(Count) == sizeof(MPI_Count), false};
}

template <class Count>
MPI_Count sum_of(const Count* counts, int n) {
  MPI_Count sum = 0;
  for (int i = 0; i < n; ++i) sum += counts[i];
  return sum;
}

void refuse_between(const arguments& a) {
  if (a.in.is_inter()) throw mpi_error(MPI_ERR_COMM, "scans are not for intercommunicators");
}

template <class Count>
void check_counts(const arguments& a, const Count* counts) {
  const int n = a.in.remote().size();
  output(counts);
  for (int i = 0; i < n; ++i)
    if (counts[i] < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("count {} is {}, below 0", i, counts[i]));
}

template <class Count, class Place>
block_list lists(const arguments& a, buffer& base, const void* at, const Count* counts, const Place* places,
                 MPI_Datatype type) {
  check_counts(a, counts);
  base = {const_cast<void*>(at), 0, &committed_type(type)};
  return {counts, &output(places), nullptr, sizeof(Count) == sizeof(MPI_Count), sizeof(Place) == sizeof(MPI_Aint)};
}

template <class Count, class Place>
block_list lists_of_types(const arguments& a, buffer& base, const void* at, const Count* counts, const Place* places,
                          const MPI_Datatype* types) {
  check_counts(a, counts);
  output(types);
  for (int i = 0; i < a.in.remote().size(); ++i)
    if (counts[i] != 0) static_cast<void>(committed_type(types[i]));
  base = {const_cast<void*>(at), 0, &type_of(MPI_BYTE)};
  return {counts, &output(places), types, sizeof(Count) == sizeof(MPI_Count), sizeof(Place) == sizeof(MPI_Aint)};
}

request& prepare(caller& c, communicator& in, collective kind, const std::function<void(arguments&)>& fill) {
  request& r = new_collective(c.me, in, kind);
  try {
    arguments a{*r.call, in};
    fill(a);
  } catch (...) {
    c.me.pool.give_back(r);
    throw;
  }
  return r;
}

template <class Fill>
void run(caller& c, communicator& in, collective kind, const Fill& fill) {
  collective_call mine = blocking_call(c.me, in, kind);
  arguments a{mine, in};
  fill(a);
  check_end(run_collective(c.me, in, mine, c.note(wait_note::kind::collective, &in)));
}

// The program may free datatypes at once.
request& prepare_to_keep(caller& c, communicator& in, collective kind, const std::function<void(arguments&)>& fill) {
  request& r = prepare(c, in, kind, fill);
  keep_arguments(*r.call, in.remote().size(), in.remote().size());
  return r;
}

MPI_Request begin(caller& c, communicator& in, collective kind, const std::function<void(arguments&)>& fill) {
  request& r = prepare_to_keep(c, in, kind, fill);
  begin_collective(r);
  return handle_of<MPI_Request>(r);
}

MPI_Request prepare_persistent(caller& c, communicator& in, collective kind,
                               const std::function<void(arguments&)>& fill) {
  request& r = prepare_to_keep(c, in, kind, fill);
  r.persistent = true;
  r.active = false;
  r.complete = true;
  prepare_persistent_collective(r);
  return handle_of<MPI_Request>(r);
}

const auto k_nothing = [](arguments&) {};

[[gnu::noinline]] int barrier_with_checks(MPI_Comm comm, const char* function = __builtin_FUNCTION()) {
  const auto barrier = [](caller& c, communicator& in) {
    check_end(run_barrier(c.me, in, c.note(wait_note::kind::collective, &in)));
  };
  return enter(comm, barrier, function);
}

[[gnu::noinline]] int raise_end(MPI_Comm comm, int error, const char* function = __builtin_FUNCTION()) {
  return enter(
      comm, [error](caller&, communicator&) { check_end(error); }, function);
}

}  // namespace

extern "C" {

#include "rank/abi/narrow.inc"

#include "rank/abi/collectives.inc"

#include "rank/abi/large.inc"

#include "rank/abi/collectives.inc"

int PMPI_Barrier(MPI_Comm comm) {
  rank_state* const me = current_rank();
  communicator* const plain = plain_communicator(me, comm);
  if (plain == nullptr) [[unlikely]]
    return barrier_with_checks(comm);
  const wait_note note("MPI_Barrier", me->world, plain, 0, 0, wait_note::kind::collective, __builtin_return_address(0));
  int error = MPI_ERR_NO_MEM;
  try {
    error = run_barrier(*me, *plain, note);
  } catch (const std::bad_alloc&) {
    release_last_memory();
  }
  return error == MPI_SUCCESS ? error : raise_end(comm, error);
}
MPI_ABI_ALIAS(Barrier)

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request_handle) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Request& result = output(request_handle);
    result = begin(c, in, collective::barrier, k_nothing);
  });
}
MPI_ABI_ALIAS(Ibarrier)

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info, MPI_Request* request_handle) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Request& result = output(request_handle);
    result = prepare_persistent(c, in, collective::barrier, k_nothing);
  });
}
MPI_ABI_ALIAS(Barrier_init)
}
