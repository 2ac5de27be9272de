// SPDX-License-Identifier: Apache-2.0
#include "rank/collective_sites.hpp"

#include <utility>

namespace shoal::rank {

std::vector<collective_call*> collective_sites::leave(std::size_t index, std::uint64_t sequence,
                                                      collective_call& call) {
  const std::lock_guard hold(mutex_);
  while (open_.size() <= sequence - first_) open_.push_back({std::vector<collective_call*>(members_), members_});
  site& at = open_[static_cast<std::size_t>(sequence - first_)];
  at.calls[index] = &call;
  if (--at.missing != 0) return {};
  std::vector<collective_call*> all = std::move(at.calls);
  while (!open_.empty() && open_.front().missing == 0) {
    open_.pop_front();
    ++first_;
  }
  return all;
}

}  // namespace shoal::rank
