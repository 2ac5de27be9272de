// SPDX-License-Identifier: Apache-2.0
#include "rank/queue_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace shoal::rank {

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
