// SPDX-License-Identifier: Apache-2.0
// The network of a simulated machine: when a message that a node hands to its network card at a given time has arrived
// whole. After LogGP (Alexandrov et al., 1995): latency, gap per message and gap per byte; the processors' overhead is
// charged elsewhere (costs.hpp). A card sends one message at a time, and receives one at a time; a message passes
// through switches without being stored, so its bytes count once where nobody is in its way.
// Topologies: flat (cards only); fat_tree (leaf switches of `radix` / 2 nodes, with as many links upwards divided by
// `taper`, the one for a message given by its destination); torus (three dimensions, x first; each link is used by one
// message at a time). A link that is slow or cut (faults.hpp) is a path of its own from card to card meanwhile, which
// carries one message at a time.
// Who may call: one thread at a time. Limits: links serve messages in the order of the calls. Tests:
// tests/unit/net/sim_network_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/transports/sim/faults.hpp"

namespace shoal::net {

enum class sim_topology : std::uint8_t { flat, fat_tree, torus };

struct sim_network_shape {
  sim_topology topology = sim_topology::flat;
  std::uint64_t latency_ps = 1'500'000;  // between cards, through one switch
  std::uint64_t hop_ps = 0;              // more, for each further switch
  std::uint64_t message_gap_ps = 0;      // least time of a card between two messages
  std::uint64_t byte_ps = 80;            // of cards and links
  unsigned radix = 40;                   // ports of a switch (fat_tree)
  unsigned taper = 1;
  double jitter = 0;  // of the latency: at most so much more, as a part of it
};

/// What the setting `sim_network` names; nullptr for another name. The origin of the figures is in network.cpp.
const sim_network_shape* find_sim_network(std::string_view name) noexcept;

class sim_network {
public:
  /// Of the faults those of links count.
  sim_network(const sim_network_shape& shape, unsigned nodes, const std::vector<sim_fault>& faults = {});

  /// When `bytes` handed over by `from` at `at_ps` have arrived at `to`, or k_never_ps. `extra_ps`: of latency.
  std::uint64_t carry(unsigned from, unsigned to, std::size_t bytes, std::uint64_t at_ps, std::uint64_t extra_ps = 0);
  /// The same for a message without bytes that waits for nothing: an acknowledgement by the cards.
  std::uint64_t carry_acknowledgement(unsigned from, unsigned to, std::uint64_t at_ps) const noexcept;
  std::uint64_t latency_ps(unsigned from, unsigned to) const noexcept;
  /// The least latency between two nodes.
  std::uint64_t least_latency_ps() const noexcept { return shape_.latency_ps; }
  unsigned switches_between(unsigned from, unsigned to) const noexcept;

private:
  std::uint64_t pass(std::uint64_t& free_ps, std::uint64_t at_ps, std::uint64_t takes_ps) const noexcept;
  std::uint64_t cross_fat_tree(unsigned from, unsigned to, std::uint64_t head_ps, std::uint64_t takes_ps) noexcept;
  std::uint64_t cross_torus(unsigned from, unsigned to, std::uint64_t head_ps, std::uint64_t takes_ps) noexcept;
  std::array<unsigned, 3> place(unsigned node) const noexcept;
  struct fault_state {
    std::uint64_t open_ps;  // when what is sent at a time begins its way; k_never_ps: it does not
    double factor;          // of its time
  };
  fault_state faults_at(unsigned from, unsigned to, std::uint64_t at_ps) const noexcept;

  const sim_network_shape shape_;
  const unsigned nodes_;
  unsigned leaf_nodes_ = 1;  // of a leaf switch
  unsigned uplinks_ = 1;
  std::array<unsigned, 3> sides_{1, 1, 1};
  std::vector<std::uint64_t> sends_free_ps_;     // by node: until then its card sends something else
  std::vector<std::uint64_t> receives_free_ps_;  // by node
  std::vector<sim_fault> faults_;                // of links
  std::unordered_map<std::uint64_t, std::uint64_t> faulty_free_ps_;  // by both nodes, of links that were faulty
  std::vector<std::uint64_t> links_free_ps_;  // fat_tree: by leaf, up and down; torus: by node and direction
};

}  // namespace shoal::net
