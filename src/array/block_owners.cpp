// SPDX-License-Identifier: Apache-2.0
#include "array/block_owners.hpp"

#include <algorithm>

namespace shoal::detail {

block_owners::block_owners(std::span<const std::uint32_t> owners, std::uint32_t nodes)
    : by_node_(owners.size()), begins_(std::size_t{nodes} + 1) {
  blocks_.reserve(owners.size());
  for (const std::uint32_t node : owners) blocks_.push_back({node, static_cast<std::uint32_t>(begins_[node + 1]++)});
  for (std::uint32_t n = 0; n < nodes; ++n) {
    most_ = std::max(most_, begins_[n + 1]);
    begins_[n + 1] += begins_[n];
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    by_node_[begins_[blocks_[b].node] + blocks_[b].place] = static_cast<std::uint32_t>(b);
}

}  // namespace shoal::detail
