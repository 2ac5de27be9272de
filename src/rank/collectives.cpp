// SPDX-License-Identifier: Apache-2.0
#include "rank/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/log.hpp"
#include "rank/collective_sites.hpp"
#include "rank/error.hpp"
#include "rank/execute.hpp"
#include "rank/process_exchange.hpp"
#include "rank/profile.hpp"
#include "rank/rank.hpp"

namespace shoal::rank {
namespace {

// In the order of ranks; `memory` is used if they are in another one.
collective_calls by_rank(collective_calls some, std::vector<collective_call*>& memory) {
  bool sorted = true;
  for (std::size_t i = 0; i < some.size(); ++i) sorted &= some[i]->rank == static_cast<int>(i);
  if (sorted) return some;
  memory.resize(some.size());
  for (collective_call* c : some) memory[static_cast<std::size_t>(c->rank)] = c;
  return memory;
}

// The ranks of one worker go on, on that worker; `running` does already.
void end_lane(collective_site& site, std::size_t lane, const detail::suspended* running) noexcept {
  collective_sites& sites = site.owner;
  sched::worker& here = *sites.home(lane);
  const int error = site.error;
  // Requests that complete may be the last that keep the communicator. Tasks keep it until they run.
  std::shared_ptr<collective_sites> kept;
  if (site.parts[lane].has_requests) kept = sites.shared_from_this();
  const std::uint64_t now = the_profile != nullptr ? profile_clock() : 0;
  sites.end_lane(site, lane, [&](const collective_arrival& a) {
    if (a.task == nullptr) return complete_with(*a.call->done, error);
    if (now != 0) [[unlikely]]
      a.call->ready_since = now;
    if (a.task != running)
      here.make_ready_here(*reinterpret_cast<fiber::fiber*>(a.task), static_cast<std::uint64_t>(error));
  });
}

void run_ending(detail::task& raw) noexcept {
  const auto& e = static_cast<collective_site::ending&>(static_cast<sched::errand&>(raw));
  end_lane(*e.of, e.lane, nullptr);
}

std::size_t index_of(const communicator& in, const member_state& m) noexcept {
  const auto index = static_cast<std::size_t>(&m - in.members_here().data());
  return in.is_upper() ? index + in.others_here() : index;
}

// Into site.calls. Who has only said MPI_Barrier gets a call here, which is for messages about errors.
void collect_calls(const communicator& in, collective_site& site) {
  site.calls.clear();
  site.barriers.clear();
  for (std::size_t i = 0; i < site.owner.members(); ++i) {
    collective_call* call = site.arrivals[i].call;
    if (call == nullptr) {
      call = site.barriers.emplace_back(std::make_unique<collective_call>()).get();
      call->rank = in.members_here()[i].rank;  // between two groups all have calls
    }
    site.calls.push_back(call);
  }
}

rank_state& leader_here(const communicator& in) noexcept {
  const auto leaders = in.leaders();
  return in.job().here(*std::ranges::find_if(leaders, [&in](int world) { return in.job().is_here(world); }));
}

int wait_for_end(const collective_call* mine, const wait_note& note) noexcept {
  if (the_profile != nullptr) [[unlikely]]
    return static_cast<int>(wait_profiled(note, &mine->ready_since));
  return static_cast<int>(sched::this_worker()->leave(detail::wait_kind::message, &note));
}

// All have come, at last the rank with the call `mine`. `running`: the task that runs here waits for the end, so it may
// wait meanwhile. False: it still has to.
bool carry_out_here(communicator& in, collective_site& site, const collective_call* mine,
                    const detail::suspended* running, int& error) {
  if (site.has_calls()) collect_calls(in, site);
  if (in.is_here()) {
    error = site.has_calls() ? execute_here(in, site.calls, mine) : MPI_SUCCESS;
  } else {
    if (!site.has_calls()) site.calls.clear();
    rank_state& leader = leader_here(in);
    if (running == nullptr || &leader.home != sched::this_worker()) {
      begin_exchange(in, leader, site, in.has(leader) ? site.arrivals[index_of(in, in.member(leader))].call : nullptr);
      return false;
    }
    error = exchange_between_processes(in, leader, site.sequence, site.calls, mine);
  }
  end_collective(site, error, running);
  return true;
}

}  // namespace

void end_collective(collective_site& site, int error, const detail::suspended* running) noexcept {
  const sched::worker* const here = sched::this_worker();
  const collective_sites& sites = site.owner;
  site.error = error;
  std::size_t own = 0;
  for (std::size_t lane = 0; lane < sites.lanes(); ++lane) {
    if (sites.home(lane) == here) {
      own = lane;
      continue;
    }
    collective_site::ending& e = site.parts[lane].by_errand;
    e.run = run_ending;
    sites.home(lane)->give_errand(e);
  }
  end_lane(site, own, running);  // last: the site stays until then
}

int execute_here(const communicator& in, collective_calls calls, const collective_call* runs) noexcept {
  try {
    const reducer by = reduces(calls[0]->kind) ? reducer_of(calls, runs) : reducer{};
    if (!in.is_inter()) {
      std::vector<collective_call*> memory;
      execute(by_rank(calls, memory), by);
    } else {
      const std::size_t lower = in.is_upper() ? in.others_here() : in.members_here().size();
      std::vector<collective_call*> of_lower, of_upper;
      execute_between(by_rank(calls.first(lower), of_lower), by_rank(calls.subspan(lower), of_upper), by);
    }
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    base::warn("{}: {}", name_of(calls[0]->kind), e.what());
    return e.code();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

namespace {

[[gnu::noinline]] int carry_out_or_wait(communicator& in, collective_site& site, const collective_call* mine,
                                        const wait_note& note) {
  int error = MPI_SUCCESS;
  if (rank_state* const me = current_rank(); me != nullptr) me->carries_out_for = note.called_from;
  return carry_out_here(in, site, mine, detail::this_task(), error) ? error : wait_for_end(mine, note);
}

// With little on the stack, for the stacks of thousands of ranks compete for the caches.
[[gnu::always_inline]] inline int run_blocking(const rank_state& me, communicator& in, collective_call* mine,
                                               const wait_note& note) {
  member_state& m = in.member(me);
  const communicator_use use(in, m);
  auto* const task = reinterpret_cast<detail::suspended*>(sched::this_worker()->current());
  collective_site* const site = in.sites().arrive(index_of(in, m), m.collectives++, {mine, task});
  return site == nullptr ? wait_for_end(mine, note) : carry_out_or_wait(in, *site, mine, note);
}

[[gnu::noinline]] int run_barrier_with_call(rank_state& me, communicator& in, const wait_note& note) {
  collective_call mine = blocking_call(me, in, collective::barrier);
  return run_collective(me, in, mine, note);
}

}  // namespace

const agreed_list::colors& agreed_list::by_color(std::size_t each) const {
  std::call_once(found_, [&] {
    const std::size_t members = size() / each;
    std::vector<int> ranks(members);
    for (std::size_t r = 0; r < members; ++r) ranks[r] = static_cast<int>(r);
    std::ranges::stable_sort(ranks, {}, [&](int r) { return (*this)[static_cast<std::size_t>(r) * each + 1]; });
    for (const int r : ranks) by_color_[(*this)[static_cast<std::size_t>(r) * each]].push_back(r);
  });
  return by_color_;
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
    for (int i = 0; list.types != nullptr && i < blocks; ++i)
      if (list.count(i, {}) != 0) keep(&type_of(list.types[i]));
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

void prepare_persistent_collective(request& r) {
  r.call->number = k_persistent_collective | r.where->member(*r.owner).persistent_collectives++ << 1;
  r.begin = [](request& started) {
    started.call->number ^= 1;
    begin_collective(started, started.call->number);
  };
}

std::uint64_t next_collective(request& r) noexcept { return r.where->member(*r.owner).collectives++; }

void begin_collective(request& r) { begin_collective(r, next_collective(r)); }

void begin_collective(request& r, std::uint64_t sequence) {
  communicator& in = *r.where;
  r.complete = false;
  r.error = MPI_SUCCESS;
  collective_site* const site = in.sites().arrive(index_of(in, in.member(*r.owner)), sequence, {r.call.get(), nullptr});
  int unused = MPI_SUCCESS;
  if (site != nullptr) static_cast<void>(carry_out_here(in, *site, r.call.get(), nullptr, unused));
}

collective_call blocking_call(const rank_state& me, const communicator& in, collective kind) noexcept {
  collective_call c;
  c.kind = kind;
  c.rank = in.rank_of(me);
  c.upper = in.is_upper();
  return c;
}

void check_end(int error) {
  if (error == MPI_ERR_NO_MEM) throw mpi_error(error, "there is not enough memory");
  if (error != MPI_SUCCESS) throw mpi_error(error, "the members' calls do not fit together");
}

int run_collective(rank_state& me, communicator& in, collective_call& mine, const wait_note& note) {
  return run_blocking(me, in, &mine, note);
}

int run_barrier(rank_state& me, communicator& in, const wait_note& note) {
  if (in.is_inter() || the_profile != nullptr) [[unlikely]]
    return run_barrier_with_call(me, in, note);
  return run_blocking(me, in, nullptr, note);
}

}  // namespace shoal::rank
