// SPDX-License-Identifier: Apache-2.0
// Which node owns each block of an array of distribution::owned, where the block is there, and which blocks a node has.
// Who may call: any thread; constant once made. Never switches tasks.
// Complexity: of() O(1), one cache miss; 12 bytes per block and 8 per node.
// Test: tests/unit/array/block_owners_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::detail {

class block_owners {
public:
  static constexpr std::uint64_t k_most_blocks = std::uint64_t{1} << 18;

  /// `owners`: by block, each below `nodes`.
  block_owners(std::span<const std::uint32_t> owners, std::uint32_t nodes);

  struct block {
    std::uint32_t node;
    std::uint32_t place;  // among the blocks of the node
  };
  block of(std::uint64_t number) const noexcept { return blocks_[number]; }
  std::uint64_t size() const noexcept { return blocks_.size(); }
  /// The numbers of a node's blocks, ascending.
  std::span<const std::uint32_t> blocks_of(std::uint32_t node) const noexcept {
    return std::span(by_node_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }
  /// Of the node that has most.
  std::uint64_t most_blocks() const noexcept { return most_; }

private:
  std::vector<block> blocks_;
  std::vector<std::uint32_t> by_node_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t most_ = 0;
};

}  // namespace shoal::detail
