// SPDX-License-Identifier: Apache-2.0
#include "rank/queue_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "shoal/detail/assert.hpp"

namespace shoal::rank {

// The entry of `key`, or the free one where it belongs.
namespace {

__extension__ using wide = unsigned __int128;

// One multiplication of 128 bits, whose halves are joined: all bits of the key reach the low bits.
std::size_t hash_of(const queue_key& key) noexcept {
  constexpr std::uint64_t k_odd = 0x9e37'79b9'7f4a'7c15;
  constexpr std::uint64_t k_other = 0xd6e8'feb8'6659'fd93;
  const auto product = static_cast<wide>(key.high ^ k_odd) * (key.low ^ k_other);
  return static_cast<std::size_t>(product >> 64) ^ static_cast<std::size_t>(product);
}

}  // namespace

queue_table::entry& queue_table::slot_of(const queue_key& key) noexcept {
  const std::size_t mask = capacity_ - 1;
  std::size_t at = hash_of(key) & mask;
  while (entries_[at].used && entries_[at].key != key) at = (at + 1) & mask;
  return entries_[at];
}

queue_ends& queue_table::at(const queue_key& key) noexcept {
  SHOAL_CHECK(used_ < capacity_, "a key is added to a queue_table without reserve()");
  entry& e = slot_of(key);
  if (!e.used) {
    e.used = true;
    e.key = key;
    ++used_;
  }
  return e.queue;
}

queue_ends* queue_table::find(const queue_key& key) noexcept {
  if (used_ == 0) return nullptr;
  entry& e = slot_of(key);
  return e.used ? &e.queue : nullptr;
}

void queue_table::rebuild(std::size_t more) {
  constexpr std::size_t k_least = 16;
  std::size_t live = 0;
  for (std::size_t i = 0; i < capacity_; ++i) live += entries_[i].queue.empty() ? 0 : 1;
  const std::size_t capacity = std::max(k_least, std::bit_ceil(2 * (live + more)));
  auto old = std::exchange(entries_, std::make_unique<entry[]>(capacity));
  const std::size_t before = std::exchange(capacity_, capacity);
  used_ = live;
  for (std::size_t i = 0; i < before; ++i)
    if (!old[i].queue.empty()) slot_of(old[i].key) = old[i];
}

}  // namespace shoal::rank
