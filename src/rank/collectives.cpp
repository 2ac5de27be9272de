// SPDX-License-Identifier: Apache-2.0
#include "rank/collectives.hpp"

#include <cstring>
#include <new>
#include <vector>

#include "base/log.hpp"
#include "rank/collective_sites.hpp"
#include "rank/error.hpp"
#include "rank/execute.hpp"
#include "rank/process_exchange.hpp"
#include "rank/rank.hpp"
#include "rank/transfer.hpp"

namespace shoal::rank {
namespace {

std::vector<collective_call*> by_rank(collective_calls some) {
  std::vector<collective_call*> all(some.size());
  for (collective_call* c : some) all[static_cast<std::size_t>(c->rank)] = c;
  return all;
}

}  // namespace

void complete_all(collective_calls calls, int error) noexcept {
  const sched::worker* const here = sched::this_worker();
  for (collective_call* c : calls) {
    request& r = *c->done;
    if (error != MPI_SUCCESS) r.error = error;
    if (&r.owner->home == here)
      complete(r);
    else
      complete_from_elsewhere(r);
  }
}

int execute_here(const communicator& in, collective_calls calls) noexcept {
  try {
    if (!in.is_inter()) {
      execute(by_rank(calls));
    } else {
      const std::size_t lower = in.is_upper() ? in.others_here() : in.members_here().size();
      execute_between(by_rank(calls.first(lower)), by_rank(calls.subspan(lower)));
    }
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    base::warn("{}: {}", name_of(calls[0]->kind), e.what());
    return e.code();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

collective_call& new_call(request& r) {
  if (r.call == nullptr) r.call = {new collective_call, [](collective_call* c) { delete c; }};
  return *r.call;
}

namespace {

// The list's arrays become the call's own.
void keep_arrays(collective_call& call, block_list& list, int blocks) {
  const auto keep = [&]<class T>(const T*& array, std::size_t bytes_of_one) {
    if (array == nullptr || blocks == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(blocks) * bytes_of_one;
    auto& own = call.kept_arrays.emplace_back(std::make_shared_for_overwrite<std::byte[]>(bytes));
    std::memcpy(own.get(), array, bytes);
    array = reinterpret_cast<const T*>(own.get());
  };
  keep(list.counts, list.wide ? sizeof(MPI_Count) : sizeof(int));
  keep(list.places, list.places_are_wide ? sizeof(MPI_Aint) : sizeof(int));
  keep(list.types, sizeof(MPI_Datatype));
}

}  // namespace

void keep_arguments(collective_call& call, int sent_blocks, int received_blocks) {
  const auto keep = [&call](const datatype* type) {
    if (type != nullptr && !type->is_predefined()) call.kept.emplace_back(type);
  };
  const auto keep_all = [&keep](const block_list& list, int blocks) {
    for (int i = 0; list.types != nullptr && i < blocks; ++i) keep(&type_of(list.types[i]));
  };
  keep(call.send.type);
  keep(call.receive.type);
  keep_all(call.sent, sent_blocks);
  keep_all(call.received, received_blocks);
  keep_arrays(call, call.sent, sent_blocks);
  keep_arrays(call, call.received, received_blocks);
}

request& new_collective(rank_state& me, communicator& in, collective kind) {
  request& r = me.pool.take(me, request_kind::collective);
  r.where = communicator_use(in, me);
  new_call(r) = {};
  r.call->kind = kind;
  r.call->done = &r;
  r.call->rank = in.rank_of(me);
  r.call->upper = in.is_upper();
  return r;
}

std::uint64_t next_collective(request& r) noexcept { return r.where->member(*r.owner).collectives++; }

void begin_collective(request& r) { begin_collective(r, next_collective(r)); }

void begin_collective(request& r, std::uint64_t sequence) {
  communicator& in = *r.where;
  const member_state& m = in.member(*r.owner);
  auto index = static_cast<std::size_t>(&m - in.members_here().data());
  if (in.is_upper()) index += in.others_here();
  r.complete = false;
  r.error = MPI_SUCCESS;
  std::vector<collective_call*> calls = in.sites().leave(index, sequence, *r.call);
  if (calls.empty()) return;
  if (in.is_here()) return complete_all(calls, execute_here(in, calls));
  exchange_between_processes(in, sequence, std::move(calls));
}

}  // namespace shoal::rank
