// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/network.hpp"

#include <algorithm>

#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

struct named_network {
  std::string_view name;
  sim_network_shape shape;
};

// Byte times are those of the line rates, without headers. Latencies are between memories of two hosts, without the
// processors' overheads, which costs.hpp charges.
constexpr named_network k_networks[] = {
    // InfiniBand EDR: 4 lanes of 25 Gbit/s, 100 Gbit/s; switches of 36 ports with 90 ns each, and some 200 million
    // messages a second of a card, as makers' data sheets say of ConnectX-5 and Switch-IB 2. 1.5 us is what the goals
    // of this project assume between two nodes; microbenchmarks of MPI show 1.0 to 1.5 us, overheads included.
    {"infiniband", {sim_topology::fat_tree, 1'500'000, 90'000, 5'000, 80, 36, 1, 0}},
    // Slingshot: 200 Gbit/s a port; a Rosetta switch has 64 ports and takes 350 ns on average (De Sensi et al., "An
    // in-depth analysis of the Slingshot interconnect", SC 2020). Its dragonfly is taken as a fat tree of the same
    // switches, tapered by two. The rest of the latency is assumed to be that of InfiniBand.
    {"slingshot", {sim_topology::fat_tree, 1'800'000, 350'000, 5'000, 40, 64, 2, 0}},
    // Ethernet of 25 Gbit/s with TCP through the kernel: of the order of 20 us between two hosts in one rack, half a
    // million messages a second; 1 us in a switch that stores and forwards, which two of three links leave.
    {"ethernet", {sim_topology::fat_tree, 20'000'000, 1'000'000, 2'000'000, 320, 48, 3, 0}},
};

std::uint64_t times(double factor, std::uint64_t ps) noexcept {
  constexpr double k_most = 1e18;
  return static_cast<std::uint64_t>(std::min(factor * static_cast<double>(ps), k_most));
}

std::array<unsigned, 3> sides_for(unsigned nodes) {
  std::array<unsigned, 3> sides{1, 1, 1};
  const auto product = [&sides] { return std::uint64_t{sides[0]} * sides[1] * sides[2]; };
  while (product() < nodes) ++*std::ranges::min_element(sides);
  return sides;
}

}  // namespace

const sim_network_shape* find_sim_network(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(k_networks, name, &named_network::name);
  return found == std::end(k_networks) ? nullptr : &found->shape;
}

sim_network::sim_network(const sim_network_shape& shape, unsigned nodes, const std::vector<sim_fault>& faults)
    : shape_(shape), nodes_(nodes), sends_free_ps_(nodes), receives_free_ps_(nodes) {
  for (const sim_fault& f : faults)
    if (f.is_of_link()) faults_.push_back(f);
  SHOAL_ASSERT(shape.radix >= 2 && shape.taper >= 1, "a switch has two ports or more");
  leaf_nodes_ = std::max(shape.radix / 2, 1U);
  uplinks_ = std::max(leaf_nodes_ / shape.taper, 1U);
  if (shape.topology == sim_topology::fat_tree)
    links_free_ps_.resize(std::size_t{2} * uplinks_ * ((nodes + leaf_nodes_ - 1) / leaf_nodes_));
  if (shape.topology == sim_topology::torus) {
    sides_ = sides_for(nodes);
    links_free_ps_.resize(std::size_t{6} * sides_[0] * sides_[1] * sides_[2]);
  }
}

std::array<unsigned, 3> sim_network::place(unsigned node) const noexcept {
  return {node % sides_[0], node / sides_[0] % sides_[1], node / sides_[0] / sides_[1]};
}

unsigned sim_network::switches_between(unsigned from, unsigned to) const noexcept {
  switch (shape_.topology) {
    case sim_topology::flat: return 1;
    case sim_topology::fat_tree: {
      unsigned levels = 0;  // up to a switch that is above both
      for (unsigned a = from / leaf_nodes_, b = to / leaf_nodes_; a != b; a /= leaf_nodes_, b /= leaf_nodes_) {
        ++levels;
        if (leaf_nodes_ == 1) break;
      }
      return 1 + 2 * levels;
    }
    case sim_topology::torus: {
      unsigned steps = 0;
      const auto a = place(from), b = place(to);
      for (std::size_t d = 0; d < 3; ++d) {
        const unsigned apart = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];
        steps += std::min(apart, sides_[d] - apart);
      }
      return std::max(steps, 1U);
    }
  }
  return 1;
}

std::uint64_t sim_network::latency_ps(unsigned from, unsigned to) const noexcept {
  return shape_.latency_ps + (switches_between(from, to) - 1) * shape_.hop_ps;
}

// A message may wait for several cuts, one after the other; of those that slow it the worst counts.
sim_network::fault_state sim_network::faults_at(unsigned from, unsigned to, std::uint64_t at_ps) const noexcept {
  fault_state state{at_ps, 1};
  const auto acts = [&](const sim_fault& f) {
    return f.from_ps <= state.open_ps && state.open_ps < f.until_ps && f.is_between(from, to);
  };
  for (const sim_fault& f : faults_)  // in the order of their begin
    if (f.what == sim_fault::kind::cut && acts(f)) state.open_ps = f.until_ps;
  for (const sim_fault& f : faults_)
    if (f.what == sim_fault::kind::slow && acts(f)) state.factor = std::max(state.factor, f.factor);
  return state;
}

std::uint64_t sim_network::carry_acknowledgement(unsigned from, unsigned to, std::uint64_t at_ps) const noexcept {
  const fault_state state = faults_at(from, to, at_ps);
  return state.open_ps == k_never_ps ? k_never_ps : state.open_ps + times(state.factor, latency_ps(from, to));
}

// The head of a message gets through once what was before it has; then it is busy for as long as the message is.
std::uint64_t sim_network::pass(std::uint64_t& free_ps, std::uint64_t at_ps, std::uint64_t takes_ps) const noexcept {
  const std::uint64_t begins_ps = std::max(at_ps, free_ps);
  free_ps = begins_ps + takes_ps;
  return begins_ps;
}

std::uint64_t sim_network::cross_fat_tree(unsigned from, unsigned to, std::uint64_t head_ps,
                                          std::uint64_t takes_ps) noexcept {
  const unsigned leaf = from / leaf_nodes_, other = to / leaf_nodes_;
  if (leaf == other) return head_ps;
  const auto link = [this](unsigned of, unsigned number, bool down) -> std::uint64_t& {
    return links_free_ps_[(std::size_t{of} * 2 + (down ? 1 : 0)) * uplinks_ + number % uplinks_];
  };
  head_ps = pass(link(leaf, to, false), head_ps, takes_ps);
  return pass(link(other, to, true), head_ps, takes_ps);
}

std::uint64_t sim_network::cross_torus(unsigned from, unsigned to, std::uint64_t head_ps,
                                       std::uint64_t takes_ps) noexcept {
  auto at = place(from);
  const auto goal = place(to);
  for (std::size_t d = 0; d < 3; ++d)
    while (at[d] != goal[d]) {
      const unsigned forward = (goal[d] + sides_[d] - at[d]) % sides_[d];
      const bool up = forward <= sides_[d] - forward;
      const std::size_t node = (std::size_t{at[2]} * sides_[1] + at[1]) * sides_[0] + at[0];
      head_ps = pass(links_free_ps_[node * 6 + 2 * d + (up ? 1 : 0)], head_ps, takes_ps);
      at[d] = (at[d] + (up ? 1 : sides_[d] - 1)) % sides_[d];
    }
  return head_ps;
}

std::uint64_t sim_network::carry(unsigned from, unsigned to, std::size_t bytes, std::uint64_t at_ps,
                                 std::uint64_t extra_ps) {
  const std::uint64_t long_ps = bytes * shape_.byte_ps;
  if (const fault_state state = faults_at(from, to, at_ps); state.open_ps != at_ps || state.factor != 1) {
    if (state.open_ps == k_never_ps) return k_never_ps;
    const std::uint64_t slow_ps = times(state.factor, std::max(long_ps, shape_.message_gap_ps));
    const std::uint64_t begins_ps = pass(faulty_free_ps_[std::uint64_t{from} << 32 | to], state.open_ps, slow_ps);
    return begins_ps + times(state.factor, latency_ps(from, to)) + slow_ps + extra_ps;
  }
  const std::uint64_t card_ps = std::max(long_ps, shape_.message_gap_ps);
  std::uint64_t head_ps = pass(sends_free_ps_[from], at_ps, card_ps);
  if (shape_.topology == sim_topology::fat_tree) head_ps = cross_fat_tree(from, to, head_ps, long_ps);
  if (shape_.topology == sim_topology::torus) head_ps = cross_torus(from, to, head_ps, long_ps);
  head_ps = pass(receives_free_ps_[to], head_ps + latency_ps(from, to) + extra_ps, card_ps);
  return head_ps + long_ps;
}

}  // namespace shoal::net
