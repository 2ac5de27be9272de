// SPDX-License-Identifier: Apache-2.0
// Duplicates of communicators (MPI 5.0, 7.4.2). What a duplicate takes over is as it is when the function is called, also
// when the operation completes later.
#include <memory>
#include <optional>
#include <utility>

#include "rank/abi/arguments.hpp"
#include "rank/abi/making.hpp"
#include "rank/collectives.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

constexpr auto k_attributes = attribute_key::kind::communicator;

// What goes over, on the way.
struct duplicate {
  context_id context = 0;
  MPI_Comm* result = nullptr;
  error_handler_ref errors;
  std::shared_ptr<const topology> neighbours;
  info_pairs hints;
  attribute_set attributes;
  std::optional<mpi_error> failure;  // of a function that copies an attribute: the other members go on
  // Of an intercommunicator: how the number comes back, and its place in the order of operations.
  bool is_waited_for = false;  // then the call takes what is left of it
  request* back = nullptr;
  std::uint64_t back_sequence = 0;
};

std::unique_ptr<duplicate> taken_over(caller& c, communicator& in, MPI_Comm* result, const info_pairs* hints) {
  auto d = std::make_unique<duplicate>();
  const member_state& m = in.member(c.me);
  d->context = new_context(c.me);
  d->result = result;
  d->errors = m.errors;
  d->neighbours = m.neighbours;
  d->hints = hints != nullptr ? *hints : m.hints;
  const MPI_Comm handle = handle_of_communicator(c.me, in);
  try {
    d->attributes.copy(c.me.keys, k_attributes, handle, m.attributes);
  } catch (const mpi_error& e) {
    d->failure = e;
  }
  return d;
}

// Returns the error.
int make_duplicate(request& r, duplicate& d) noexcept {
  if (r.error != MPI_SUCCESS) return r.error;
  if (d.failure) return d.failure->code();
  caller c{*r.owner, "PMPI_Comm_idup"};
  try {
    const MPI_Comm made = join(c, d.context, r.where->local_ref(), r.where->remote_ref());
    member_state& m = communicator_of(c.me, made).member(c.me);
    m.errors = std::move(d.errors);
    m.neighbours = std::move(d.neighbours);
    m.hints = std::move(d.hints);
    m.attributes = std::move(d.attributes);
    *d.result = made;
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

// The duplicate is there when the request has completed. What a call that waits has copied in vain, it deletes itself:
// the program's functions cannot run here.
void finish_duplicate(request& r) noexcept {
  std::unique_ptr<duplicate> d(static_cast<duplicate*>(std::exchange(r.state, nullptr)));
  r.error = make_duplicate(r, *d);
  if (r.error != MPI_SUCCESS && d->is_waited_for) r.state = d.release();
}

request& broadcast_of(caller& c, communicator& in, int root, duplicate& d) {
  request& r = new_collective(c.me, in, collective::broadcast);
  r.call->root = root;
  r.call->send = r.call->receive = {&d.context, sizeof d.context, nullptr};
  r.state = &d;
  return r;
}

void send_back(request& r) noexcept {
  const duplicate& d = *static_cast<duplicate*>(r.state);
  if (r.error != MPI_SUCCESS) return complete_with(*d.back, r.error);
  begin_collective(*d.back, d.back_sequence);
}

// The first member of the lower group numbers it, and the first one of the upper group sends the number back.
request& begin_between(caller& c, communicator& in, std::unique_ptr<duplicate> d) {
  const int first = in.rank_of(c.me) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  request& whole = c.me.pool.take(c.me, request_kind::composite);
  whole.where = communicator_use(in, c.me);
  whole.parts = 2;
  request& up = broadcast_of(c, in, in.is_upper() ? 0 : first, *d);
  request& back = broadcast_of(c, in, in.is_upper() ? first : 0, *d);
  up.whole = back.whole = &whole;
  up.finish = send_back;
  whole.finish = finish_duplicate;
  const std::uint64_t sequence = next_collective(up);
  d->back = &back;
  d->back_sequence = next_collective(back);
  whole.state = d.release();
  begin_collective(up, sequence);
  return whole;
}

request& begin(caller& c, communicator& in, MPI_Comm* result, const info_pairs* hints, bool is_waited_for = false) {
  output(result) = MPI_COMM_NULL;
  std::unique_ptr<duplicate> d = taken_over(c, in, result, hints);
  d->is_waited_for = is_waited_for;
  if (in.is_inter()) return begin_between(c, in, std::move(d));
  request& r = broadcast_of(c, in, 0, *d);
  r.finish = finish_duplicate;
  r.state = d.release();
  begin_collective(r);
  return r;
}

void run(caller& c, communicator& in, MPI_Comm* result, const info_pairs* hints) {
  request& r = begin(c, in, result, hints, true);
  await(c, r, wait_note::kind::collective);
  const int error = r.error;
  const std::unique_ptr<duplicate> failed(static_cast<duplicate*>(std::exchange(r.state, nullptr)));
  c.me.pool.give_back(r);
  if (failed) failed->attributes.discard(c.me.keys, k_attributes, handle_of_communicator(c.me, in));
  if (error != MPI_SUCCESS) throw mpi_error(error, "the communicator could not be duplicated");
}

}  // namespace

extern "C" {

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) { run(c, in, newcomm, nullptr); });
}
MPI_ABI_ALIAS(Comm_dup)

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info hints, MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) {
    const info_pairs given = pairs_of(hints);
    run(c, in, newcomm, &given);
  });
}
MPI_ABI_ALIAS(Comm_dup_with_info)

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request_handle) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Request& result = output(request_handle);
    result = handle_of<MPI_Request>(begin(c, in, newcomm, nullptr));
  });
}
MPI_ABI_ALIAS(Comm_idup)

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info hints, MPI_Comm* newcomm, MPI_Request* request_handle) {
  return enter(comm, [&](caller& c, communicator& in) {
    MPI_Request& result = output(request_handle);
    const info_pairs given = pairs_of(hints);
    result = handle_of<MPI_Request>(begin(c, in, newcomm, &given));
  });
}
MPI_ABI_ALIAS(Comm_idup_with_info)
}
