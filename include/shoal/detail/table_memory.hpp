// SPDX-License-Identifier: Apache-2.0
// Memory of a node's hash tables: large blocks on pages of 2 MiB, since an access to a large table is a miss in the
// translation of addresses otherwise. Blocks of one size share regions; a region without blocks goes back to the
// system.
// Who may call: any worker of the node, seldom: when a table grows. Never switches tasks; a lock is held meanwhile.
// Guarantees: blocks are aligned to 64 bytes and not zero. Errors: std::bad_alloc, shoal::error (out_of_memory).
// Shown by tests/unit/cluster/table_memory_test.cpp.
#pragma once

#include <cstddef>
#include <memory>

namespace shoal::detail {

class table_memory {
public:
  table_memory();
  table_memory(const table_memory&) = delete;
  table_memory& operator=(const table_memory&) = delete;
  ~table_memory();

  void* allocate(std::size_t bytes);
  /// `bytes`: as it was allocated.
  void free(void* at, std::size_t bytes) noexcept;
  /// Of all regions.
  std::size_t bytes() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace shoal::detail
