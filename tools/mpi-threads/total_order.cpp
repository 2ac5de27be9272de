// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/total_order.hpp"

#include <algorithm>

namespace shoal::mpi_threads {

std::int64_t total_order::propose() {
  const std::lock_guard guard(mutex_);
  ++clock_;
  const std::int64_t number = clock_ << 32 | process_;
  pending_.push_back({number, false});
  return number;
}

void total_order::fix(std::int64_t proposed, std::int64_t agreed) {
  const std::lock_guard guard(mutex_);
  clock_ = std::max(clock_, agreed >> 32);
  for (pending& p : pending_) {
    if (p.number == proposed && !p.fixed) {
      p = {agreed, true};
      return;
    }
  }
}

bool total_order::first(std::int64_t agreed) const {
  const std::lock_guard guard(mutex_);
  // A call that is not fixed yet will get at least the number that this process proposed for it.
  return std::ranges::all_of(pending_, [agreed](const pending& p) { return p.number >= agreed; });
}

void total_order::remove(std::int64_t number) {
  const std::lock_guard guard(mutex_);
  const auto place = std::ranges::find(pending_, number, &pending::number);
  if (place != pending_.end()) pending_.erase(place);
}

}  // namespace shoal::mpi_threads
