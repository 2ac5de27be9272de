// SPDX-License-Identifier: Apache-2.0
#include "rank/collective_sites.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "rank/collective_call.hpp"

namespace shoal::rank {
namespace {

// Members run ahead of each other; each operation is given once, with the calls of all members in their order.
TEST(collective_sites, the_last_member_gets_all_calls) {
  constexpr std::size_t k_members = 4;
  constexpr std::uint64_t k_operations = 3000;
  collective_sites sites(k_members);
  std::vector<std::array<collective_call, k_members>> calls(k_operations);
  std::vector<std::atomic<int>> carried_out(k_operations);
  std::vector<std::thread> members;
  for (std::size_t m = 0; m < k_members; ++m)
    members.emplace_back([&, m] {
      for (std::uint64_t n = 0; n < k_operations; ++n) {
        collective_call& mine = calls[n][m];
        mine.rank = static_cast<int>(m);
        mine.root = static_cast<int>(n);
        const std::vector<collective_call*> all = sites.leave(m, n, mine);
        if (all.empty()) continue;
        EXPECT_EQ(all.size(), k_members);
        for (std::size_t k = 0; k < all.size(); ++k) {
          EXPECT_EQ(all[k]->rank, static_cast<int>(k));  // what another thread has written
          EXPECT_EQ(all[k]->root, static_cast<int>(n));
        }
        carried_out[n].fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (std::thread& t : members) t.join();
  for (const std::atomic<int>& n : carried_out) EXPECT_EQ(n.load(), 1);
}

}  // namespace
}  // namespace shoal::rank
