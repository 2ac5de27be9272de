// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator by process: those of the first leader's process, then those of the second one's.
// Who may call: any thread. Complexity: O(1) where the ranks of each process are consecutive, else O(ranks).
#pragma once

#include <cstdint>
#include <vector>

#include "rank/leader_link.hpp"

namespace shoal::rank {

class process_ranks {
public:
  process_ranks(const leader_link& link, const communicator& in) : begins_(in.block_begins()) {
    if (!begins_.empty()) return;
    std::vector<std::uint32_t> process(static_cast<std::size_t>(in.size()));
    own_begins_.assign(link.size() + 1, 0);
    for (int r = 0; r < in.size(); ++r) {
      const std::uint32_t p = process[static_cast<std::size_t>(r)] = link.place_of(in.local().world_of(r));
      ++own_begins_[p + 1];
    }
    for (std::uint32_t p = 0; p < link.size(); ++p) own_begins_[p + 1] += own_begins_[p];
    std::vector<int> next(own_begins_.begin(), own_begins_.end() - 1);
    ranks_.resize(process.size());
    for (std::size_t r = 0; r < process.size(); ++r)
      ranks_[static_cast<std::size_t>(next[process[r]]++)] = static_cast<int>(r);
    begins_ = own_begins_;
  }
  process_ranks(const process_ranks&) = delete;
  process_ranks& operator=(const process_ranks&) = delete;

  /// Whether this order is that of the ranks.
  bool is_order_of_ranks() const noexcept { return ranks_.empty(); }
  int count() const noexcept { return begins_.back(); }
  int count(std::uint32_t process) const noexcept { return begins_[process + 1] - begins_[process]; }
  /// Calls f(rank) for the ranks of a process, in ascending order.
  template <class F>
  void for_each(std::uint32_t process, const F& f) const {
    for (int i = begins_[process]; i < begins_[process + 1]; ++i)
      f(ranks_.empty() ? i : ranks_[static_cast<std::size_t>(i)]);
  }

private:
  std::span<const int> begins_;
  std::vector<int> own_begins_;
  std::vector<int> ranks_;
};

}  // namespace shoal::rank
