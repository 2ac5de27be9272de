// SPDX-License-Identifier: Apache-2.0
#include "array/offset_heap.hpp"

#include <algorithm>
#include <iterator>

#include "machine/memory_info.hpp"

namespace shoal::array {
namespace {

std::uint64_t alignment_for(std::uint64_t bytes) noexcept {
  return bytes >= machine::k_huge_page_bytes / 2 ? machine::k_huge_page_bytes : machine::page_size();
}

}  // namespace

std::uint64_t offset_heap::rounded(std::uint64_t bytes) noexcept {
  return machine::round_up(std::max<std::uint64_t>(bytes, 1), alignment_for(bytes));
}

std::optional<std::uint64_t> offset_heap::lease(std::uint64_t bytes) {
  const std::uint64_t alignment = alignment_for(bytes);
  const std::uint64_t need = rounded(bytes);
  if (need < bytes) return std::nullopt;  // rounding overflowed
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, length] = *it;
    const std::uint64_t at = machine::round_up(begin, alignment);
    if (at - begin > length || length - (at - begin) < need) continue;
    free_.erase(it);
    if (at > begin) free_.emplace(begin, at - begin);
    if (at + need < begin + length) free_.emplace(at + need, begin + length - at - need);
    return at;
  }
  return std::nullopt;
}

void offset_heap::release(std::uint64_t offset, std::uint64_t bytes) {
  auto [it, fresh] = free_.emplace(offset, rounded(bytes));
  if (const auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it != free_.begin())
    if (const auto before = std::prev(it); before->first + before->second == it->first) {
      before->second += it->second;
      free_.erase(it);
    }
}

std::uint64_t offset_heap::largest_free() const {
  std::uint64_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace shoal::array
