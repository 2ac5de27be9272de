// SPDX-License-Identifier: Apache-2.0
// Where the members of a communicator that are in this process meet for collective operations: each leaves its call, and
// the last one to come takes all of them, to carry the operation out.
// Who may call: any worker. Nothing here switches tasks; the lock is held for a few instructions. Complexity: O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace shoal::rank {

struct collective_call;

class collective_sites {
public:
  explicit collective_sites(std::size_t members) : members_(members) {}

  /// Member `index` leaves its call number `sequence`; the calls by index if it is the last one, else none.
  std::vector<collective_call*> leave(std::size_t index, std::uint64_t sequence, collective_call& call);

private:
  struct site {
    std::vector<collective_call*> calls;
    std::size_t missing;
  };
  const std::size_t members_;
  std::mutex mutex_;
  std::deque<site> open_;    // by sequence
  std::uint64_t first_ = 0;  // the sequence of the first one
};

}  // namespace shoal::rank
