// SPDX-License-Identifier: Apache-2.0
#include "rank/eager_windows.hpp"

#include <new>

namespace shoal::rank {

eager_windows::eager_windows(std::uint32_t nodes)
    : pages_((nodes + k_page - 1) / k_page), pages_by_node_(std::make_unique<std::atomic<page*>[]>(pages_)) {}

eager_windows::~eager_windows() {
  for (std::size_t i = 0; i < pages_; ++i) delete pages_by_node_[i].load(std::memory_order_relaxed);
}

// nullptr: there is not enough memory.
eager_windows::pair* eager_windows::find(std::uint32_t node) noexcept {
  std::atomic<page*>& at = pages_by_node_[node / k_page];
  page* found = at.load(std::memory_order_acquire);
  if (found == nullptr) [[unlikely]] {
    auto* const made = new (std::nothrow) page;
    if (made == nullptr ||
        at.compare_exchange_strong(found, made, std::memory_order_acq_rel, std::memory_order_acquire))
      found = made;
    else
      delete made;
  }
  return found == nullptr ? nullptr : &(*found)[node % k_page];
}

bool eager_windows::take(std::uint32_t node, std::uint64_t bytes) noexcept {
  pair* const p = find(node);
  if (p == nullptr) return false;
  if (p->ahead.fetch_add(bytes, std::memory_order_relaxed) + bytes <= k_window_bytes) return true;
  p->ahead.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void eager_windows::give_back(std::uint32_t node, std::uint64_t bytes) noexcept {
  if (pair* const p = find(node); p != nullptr) p->ahead.fetch_sub(bytes, std::memory_order_relaxed);
}

std::uint64_t eager_windows::received(std::uint32_t node, std::uint64_t bytes) noexcept {
  pair* const p = find(node);
  if (p == nullptr) return bytes;
  if (p->owed.fetch_add(bytes, std::memory_order_relaxed) + bytes < k_batch_bytes) return 0;
  return p->owed.exchange(0, std::memory_order_relaxed);
}

}  // namespace shoal::rank
