// SPDX-License-Identifier: Apache-2.0
#include "rank/leader_link.hpp"

#include <algorithm>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

std::uint32_t place_in(std::span<const int> leaders, const job_ranks& job, int world) noexcept {
  const auto at = std::ranges::lower_bound(leaders, job.node_of(world), {}, [&job](int w) { return job.node_of(w); });
  return static_cast<std::uint32_t>(at - leaders.begin());
}

buffer bytes_of(std::span<const std::byte> s) noexcept {
  return {const_cast<std::byte*>(s.data()), static_cast<MPI_Count>(s.size()), nullptr};
}

}  // namespace

leader_link::leader_link(rank_state& leader, const communicator& in, std::uint64_t sequence)
    : link(place_in(in.leaders(), leader.job, leader.world), static_cast<std::uint32_t>(in.leaders().size())),
      leader_(leader),
      in_(in),
      sequence_(sequence) {}

leader_link::~leader_link() {
  for (const auto& [unused, r] : expected_) finish(*r);
}

std::uint32_t leader_link::place_of(int world) const noexcept { return place_in(in_.leaders(), leader_.job, world); }

route leader_link::route_to(std::uint32_t member, std::uint32_t step) const noexcept {
  constexpr std::uint64_t k_sequences = 1 << 14;
  const int tag = static_cast<int>(sequence_ % k_sequences << 8 | step);
  return {&leader_.job.world(), in_.leaders()[member], tag, true, in_.context() | 1};
}

void leader_link::finish(request& r) {
  if (!r.complete) {
    waiter w;
    r.awaited = &w;
    w.await({"a collective operation", leader_.world, &in_, 0, 0, wait_note::kind::collective, nullptr});
  }
  leader_.pool.give_back(r);
}

void leader_link::expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) {
  expected_[{from, step}] = &begin_receive(leader_, bytes_of(target), route_to(from, step));
}

void leader_link::await(std::uint32_t from, std::uint32_t step) {
  const auto at = expected_.find({from, step});
  request& r = *at->second;
  expected_.erase(at);
  finish(r);
}

void leader_link::send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) {
  if (request* const r = begin_send(leader_, bytes_of(bytes), route_to(to, step), send_mode::standard); r != nullptr)
    finish(*r);
}

}  // namespace shoal::rank
