// SPDX-License-Identifier: Apache-2.0
#include "rank/process_exchange.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/log.hpp"
#include "rank/error.hpp"
#include "rank/group_exchange.hpp"
#include "rank/leader_link.hpp"
#include "rank/process_blocks.hpp"
#include "rank/process_reductions.hpp"
#include "sched/pool.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::rank {
namespace {

void broadcast_between(leader_link& link, const communicator& in, const std::vector<collective_call*>& calls) {
  std::vector<std::byte> bytes(calls[0]->receive.bytes());
  for (const collective_call* c : calls)
    if (c->root == c->rank) pack(c->send, 0, bytes.data(), bytes.size());
  collectives::broadcast(link, link.place_of(in.local().world_of(calls[0]->root)), bytes);
  for (const collective_call* c : calls)
    if (c->root != c->rank) copy({bytes.data(), static_cast<MPI_Count>(bytes.size()), nullptr}, c->receive);
}

void carry_out(communicator& in, rank_state& leader, std::uint64_t sequence, std::vector<collective_call*>& calls,
               const collective_call* runs) {
  const collective_call of_barrier;
  const collective_call& first = calls.empty() ? of_barrier : *calls[0];
  if (!calls.empty()) check_calls(calls, in.is_inter());
  leader_link link(leader, in, sequence, first);
  if (first.kind == collective::barrier) return collectives::barrier(link);
  if (in.is_inter()) return exchange_between_groups(link, in, calls, runs);
  const auto rank_of = [](const collective_call* c) { return c->rank; };
  if (!std::ranges::is_sorted(calls, {}, rank_of)) std::ranges::sort(calls, {}, rank_of);
  using enum collective;
  switch (first.kind) {
    case broadcast: return broadcast_between(link, in, calls);
    case gather: return gather_between(link, in, calls);
    case scatter: return scatter_between(link, in, calls);
    case all_gather: return all_gather_between(link, in, calls);
    case all_to_all: return all_to_all_between(link, in, calls);
    default: return reduce_between(link, in, calls, runs);
  }
}

struct exchange_task final : sched::placed_task {
  communicator_ref in;
  rank_state* leader = nullptr;
  collective_site* site = nullptr;
  const collective_call* of_leader = nullptr;

  static void begin(detail::task& raw) noexcept {
    const std::unique_ptr<exchange_task> self(&static_cast<exchange_task&>(static_cast<sched::placed_task&>(raw)));
    rank_state& leader = *self->leader;
    if (leader.home.owner().stopping()) return;
    collective_site& site = *self->site;
    int error = MPI_SUCCESS;
    const auto run = [&] {
      error = exchange_between_processes(*self->in, leader, site.sequence, site.calls, self->of_leader);
    };
    const bool predefined =
        std::ranges::all_of(site.calls, [](const collective_call* c) { return is_predefined(c->op.handle()); });
    // A program's operation may call MPI, and needs more stack than the runtime's own code.
    constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;
    leader.home.begun().local = &leader;
    if (predefined) {
      run();
    } else {
      try {
        call_with_stack(stack_bytes(k_stack_bytes), run);
      } catch (const std::exception&) {
        error = MPI_ERR_NO_MEM;
      }
    }
    leader.home.begun().local = nullptr;
    end_collective(site, error, nullptr);
  }
};

}  // namespace

int exchange_between_processes(communicator& in, rank_state& leader, std::uint64_t sequence,
                               std::vector<collective_call*>& calls, const collective_call* runs) noexcept {
  try {
    carry_out(in, leader, sequence, calls, runs);
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    base::warn("{}: {}", name_of(calls.empty() ? collective::barrier : calls[0]->kind), e.what());
    return e.code();
  } catch (const std::exception&) {
    return MPI_ERR_NO_MEM;
  }
}

void begin_exchange(communicator& in, rank_state& leader, collective_site& site, const collective_call* of_leader) {
  auto task = std::make_unique<exchange_task>();
  task->run = exchange_task::begin;
  task->in = communicator_ref(&in);
  task->leader = &leader;
  task->site = &site;
  task->of_leader = of_leader;
  leader.home.place(*task.release());
}

}  // namespace shoal::rank
