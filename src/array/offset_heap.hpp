// SPDX-License-Identifier: Apache-2.0
// The used parts of the symmetric segment: ranges of offsets that node 0 leases on behalf of all nodes. First
// fit over the free ranges in order of address; a freed range joins its neighbours.
// Who may call: node 0, under the lock that its owner provides. Does not switch tasks.
// Guarantees: leases do not overlap; large ones begin on a 2 MiB boundary, small ones on a page.
// Shown by tests/unit/array/offset_heap_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace shoal::array {

class offset_heap {
public:
  explicit offset_heap(std::uint64_t capacity_bytes) { free_.emplace(0, capacity_bytes); }

  std::optional<std::uint64_t> lease(std::uint64_t bytes);
  void release(std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t largest_free() const;

  /// The size of a lease of `bytes`, after rounding.
  static std::uint64_t rounded(std::uint64_t bytes) noexcept;

private:
  std::map<std::uint64_t, std::uint64_t> free_;  // offset to bytes
};

}  // namespace shoal::array
