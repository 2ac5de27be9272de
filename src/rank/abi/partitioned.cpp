// SPDX-License-Identifier: Apache-2.0
// Messages in partitions, which the threads of a rank make ready one by one (MPI 5.0, chapter 4). A message leaves when
// its last partition is ready, and all partitions arrive with it, which the standard permits.
// Matching: the nth request that was made here for a peer and tag belongs to the nth that was made there, however they
// are started. Limit: among more than 64 at once of one peer, tag and communicator the order of starts counts.
// Test: tests/conformance/partitioned.c.
#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "rank/abi/arguments.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

// In the memory that a request keeps; behind it a byte for each partition: whether it is ready.
struct partitions {
  int count;
  int missing;  // of those that have to be ready
  bool sends;
  std::span<std::byte> ready() noexcept {
    return {reinterpret_cast<std::byte*>(this + 1), static_cast<std::size_t>(count)};
  }
};

partitions& partitions_of(request& r) noexcept { return *std::launder(reinterpret_cast<partitions*>(r.packed.get())); }

// The rank of the world that the request sends to or receives from.
int world_of(const request& r) noexcept { return r.where->remote().world_of(r.peer); }

route route_of(request& r, bool sends) {
  if (r.peer == MPI_PROC_NULL) return {r.where.get(), MPI_PROC_NULL, r.wanted_tag, true};
  // Behind a context of its own the peer of a receive is a rank of the world.
  return {r.where.get(), sends ? r.peer : world_of(r), r.wanted_tag, true, r.context};
}

void note_end(request& r) noexcept {
  r.source = r.peer;
  r.tag = r.peer == MPI_PROC_NULL ? MPI_ANY_TAG : r.wanted_tag;
}

void send_all(request& r) { join(r, begin_send(*r.owner, r.data, route_of(r, true), send_mode::standard)); }

void begin_anew(request& r) {
  partitions& all = partitions_of(r);
  r.complete = false;
  r.error = MPI_SUCCESS;
  r.bytes = 0;
  r.parts = 1;
  std::ranges::fill(all.ready(), std::byte{0});
  all.missing = all.count;
  if (all.sends) {
    if (all.missing == 0) send_all(r);
    return;
  }
  request& in = begin_receive(*r.owner, r.data, route_of(r, false));
  r.status_of = &in;
  join(r, &in);
}

// Which of the requests with the same peer and tag this is, as its partner counts, too.
context_id channel_of(rank_state& me, const communicator& in, int peer, int tag, bool sends) {
  if (peer == MPI_PROC_NULL) return 0;
  constexpr unsigned k_first_bit = 56;
  constexpr context_id k_partitioned = context_id{1} << 62;  // no context of a communicator has such bits
  const std::uint64_t partner = static_cast<std::uint64_t>(peer) << 32 | static_cast<unsigned>(tag);
  const std::uint64_t number = me.partitioned[{in.context() | (sends ? 1U : 0U), partner}]++;
  return in.context() | k_partitioned | number % 64 << k_first_bit;
}

MPI_Request new_request(caller& c, const void* buf, int count, MPI_Count each, MPI_Datatype type, const route& with,
                        bool sends) {
  if (count < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("there are {} partitions, fewer than 0", count));
  if (each > 0 && count > std::numeric_limits<MPI_Count>::max() / each)
    throw mpi_error(MPI_ERR_COUNT, fmt::format("{} partitions of {} elements are too many", count, each));
  const buffer data = checked_buffer(buf, each < 0 ? each : each * count, type);
  auto memory = std::make_unique<std::byte[]>(sizeof(partitions) + static_cast<std::size_t>(count));
  ::new (memory.get()) partitions{count, count, sends};
  route as = with;
  as.context = channel_of(c.me, *with.where, with.peer, with.tag, sends);
  request& r = c.me.pool.take(c.me, request_kind::composite);
  r.packed = std::move(memory);
  r.persistent = r.complete = true;
  r.active = false;
  note_call(r, c.me, data, as);
  r.begin = begin_anew;
  r.finish = note_end;
  return handle_of<MPI_Request>(r);
}

request& partitioned(MPI_Request h, bool sends) {
  request& r = object_of<request>(h);
  if (r.begin != begin_anew || partitions_of(r).sends != sends)
    throw mpi_error(MPI_ERR_REQUEST,
                    fmt::format("the request was not made by {}", sends ? "MPI_Psend_init" : "MPI_Precv_init"));
  return r;
}

void check_partition(partitions& all, int partition) {
  if (partition < 0 || partition >= all.count)
    throw mpi_error(MPI_ERR_ARG, fmt::format("partition {} is not in 0 to {}", partition, all.count - 1));
}

void make_ready(request& r, int partition) {
  partitions& all = partitions_of(r);
  check_partition(all, partition);
  if (!r.active) throw mpi_error(MPI_ERR_REQUEST, "the request has not been started");
  std::byte& ready = all.ready()[static_cast<std::size_t>(partition)];
  if (ready != std::byte{0}) throw mpi_error(MPI_ERR_ARG, fmt::format("partition {} is ready already", partition));
  ready = std::byte{1};
  if (--all.missing == 0) send_all(r);
}

}  // namespace

extern "C" {

int PMPI_Psend_init(const void* buf, int count, MPI_Count each, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Info, MPI_Request* request) {
  return enter(comm, [&](caller& c, communicator& in) {
    output(request) = new_request(c, buf, count, each, datatype, destination(in, dest, tag), true);
  });
}
MPI_ABI_ALIAS(Psend_init)

int PMPI_Precv_init(void* buf, int count, MPI_Count each, MPI_Datatype datatype, int source_rank, int tag,
                    MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return enter(comm, [&](caller& c, communicator& in) {
    if (source_rank == MPI_ANY_SOURCE) throw mpi_error(MPI_ERR_RANK, "a message in partitions needs a known source");
    check_send_tag(tag);  // MPI_ANY_TAG is none
    output(request) = new_request(c, buf, count, each, datatype, source(in, source_rank, tag), false);
  });
}
MPI_ABI_ALIAS(Precv_init)

int PMPI_Pready(int partition, MPI_Request handle) {
  return enter([&](caller&, communicator*& where) {
    request& r = partitioned(handle, true);
    where = r.where.get();
    make_ready(r, partition);
  });
}
MPI_ABI_ALIAS(Pready)

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request handle) {
  return enter([&](caller&, communicator*& where) {
    request& r = partitioned(handle, true);
    where = r.where.get();
    for (int p = partition_low; p <= partition_high; ++p) make_ready(r, p);
  });
}
MPI_ABI_ALIAS(Pready_range)

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request handle) {
  return enter([&](caller&, communicator*& where) {
    request& r = partitioned(handle, true);
    where = r.where.get();
    for (int i = 0; i < length; ++i) make_ready(r, output(array_of_partitions + i));
  });
}
MPI_ABI_ALIAS(Pready_list)

int PMPI_Parrived(MPI_Request handle, int partition, int* flag) {
  return enter([&](caller& c, communicator*& where) {
    int& arrived = output(flag);
    arrived = 1;
    if (handle == MPI_REQUEST_NULL) return;
    request& r = partitioned(handle, false);
    where = r.where.get();
    check_partition(partitions_of(r), partition);
    if (r.active && !r.complete) give_way(c);
    arrived = !r.active || r.complete ? 1 : 0;
  });
}
MPI_ABI_ALIAS(Parrived)
}
