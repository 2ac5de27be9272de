// SPDX-License-Identifier: Apache-2.0
// The data that the nodes of a job exchange before they have a network: their machine, its resources, and where
// neighbours find their memory. Sent as text through launch::control.
// Who may call: the thread that makes the job. Tests: tests/unit/runtime/neighbours_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::runtime {

struct visiting_card {
  std::string neighbourhood;  // machine/neighbourhood.hpp
  unsigned processors = 1;
  std::uint64_t segment_bytes = 0;  // address space that there is for a node's part
  std::uint64_t memory_bytes = 0;   // of its machine
  int pid = 0;
  int segment = -1;  // descriptors, open in that process
  int world = -1;

  std::vector<std::byte> bytes() const;
  /// Throws errc::mismatch.
  static visiting_card read(std::span<const std::byte> bytes);
};

class neighbours {
public:
  neighbours(std::vector<visiting_card> cards, std::uint32_t me) : cards_(std::move(cards)), me_(me) {}

  const visiting_card& at(std::uint32_t node) const { return cards_[node]; }
  bool here(std::uint32_t node) const { return cards_[node].neighbourhood == cards_[me_].neighbourhood; }
  bool all_here() const;
  /// How many nodes the machine of `node` has, and which of them it is.
  std::uint32_t nodes_beside(std::uint32_t node) const;
  std::uint32_t index_of(std::uint32_t node) const;
  unsigned machines() const;
  /// The same on all nodes: processors by nodes, on the machine that has least.
  unsigned workers() const;
  std::uint64_t segment_bytes() const;
  /// A node's share of its machine, where that is least.
  std::uint64_t memory_bytes() const;
  /// How many consecutive nodes each machine has; empty if nodes of a machine are not consecutive.
  std::vector<std::uint32_t> blocks() const;

private:
  std::vector<visiting_card> cards_;
  std::uint32_t me_;
};

}  // namespace shoal::runtime
