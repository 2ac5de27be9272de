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

// They only tell lanes apart.
sched::worker* home(std::uintptr_t number) { return reinterpret_cast<sched::worker*>(64 * (number + 1)); }

std::shared_ptr<collective_sites> make_sites(std::initializer_list<int> homes) {
  std::vector<sched::worker*> all;
  for (const int h : homes) all.push_back(home(static_cast<std::uintptr_t>(h)));
  return std::make_shared<collective_sites>(all);
}

// Lanes run ahead of each other; each operation is given once, with the calls of all members in their order.
TEST(collective_sites, the_last_member_gets_all_calls) {
  constexpr std::size_t k_lanes = 3;
  constexpr std::size_t k_members = 7;
  constexpr std::uint64_t k_operations = 3000;
  const auto sites = make_sites({0, 0, 1, 2, 1, 0, 2});
  ASSERT_EQ(sites->lanes(), k_lanes);
  ASSERT_EQ(sites->members(), k_members);
  const std::array<std::vector<std::size_t>, k_lanes> members{{{5, 0, 1}, {2, 4}, {6, 3}}};
  std::vector<std::array<collective_call, k_members>> calls(k_operations);
  std::vector<std::atomic<collective_site*>> carried_out(k_operations);
  std::vector<std::thread> lanes;
  std::atomic<int> wrong{0};
  for (std::size_t lane = 0; lane < k_lanes; ++lane)
    lanes.emplace_back([&, lane] {
      std::uint64_t ended = 0;
      const auto end = [&](std::uint64_t until) {
        for (; ended < until; ++ended) {
          collective_site* site = nullptr;
          while ((site = carried_out[ended].load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
          std::size_t seen = 0;
          sites->end_lane(*site, lane, [&](const collective_arrival& a) {
            ++seen;
            if (a.call->results != static_cast<MPI_Count>(ended)) ++wrong;  // what the last member has written
          });
          if (seen != members[lane].size()) ++wrong;
        }
      };
      for (std::uint64_t n = 0; n < k_operations; ++n) {
        for (const std::size_t m : members[lane]) {
          collective_call& mine = calls[n][m];
          mine.rank = static_cast<int>(m);
          mine.root = static_cast<int>(n);
          collective_site* const site = sites->arrive(m, n, {&mine, nullptr});
          if (site == nullptr) continue;
          for (std::size_t k = 0; k < k_members; ++k) {
            collective_call& one = *site->arrivals[k].call;
            if (one.rank != static_cast<int>(k) || one.root != static_cast<int>(n)) ++wrong;
            one.results = static_cast<MPI_Count>(n);
          }
          if (!site->has_calls() || carried_out[n].exchange(site, std::memory_order_acq_rel) != nullptr) ++wrong;
        }
        end(n < 10 + lane ? 0 : n - 10 - lane);
      }
      end(k_operations);
    });
  for (std::thread& t : lanes) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(collective_sites, a_site_that_has_ended_is_used_again) {
  const auto sites = make_sites({0, 0});
  collective_call call;
  collective_site* first = nullptr;
  for (std::uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(sites->arrive(0, n, {&call, nullptr}), nullptr);
    collective_site* const site = sites->arrive(1, n, {&call, nullptr});
    ASSERT_NE(site, nullptr);
    EXPECT_TRUE(first == nullptr || site == first);
    first = site;
    sites->end_lane(*site, 0, [](const collective_arrival&) {});
  }
}

// A member may be many operations ahead of another one, and they may end in another order.
TEST(collective_sites, operations_that_are_open_at_once_keep_their_sequence) {
  constexpr std::uint64_t k_operations = 100;
  const auto sites = make_sites({0, 0, 0});
  std::vector<collective_call> calls(3 * k_operations);
  for (std::uint64_t n = 0; n < k_operations; ++n) EXPECT_EQ(sites->arrive(0, n, {&calls[3 * n], nullptr}), nullptr);
  for (std::uint64_t n = k_operations; n-- > 0;) EXPECT_EQ(sites->arrive(2, n, {&calls[3 * n + 2], nullptr}), nullptr);
  for (std::uint64_t n = 0; n < k_operations; ++n) {
    collective_site* const site = sites->arrive(1, n, {nullptr, nullptr});
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(site->sequence, n);
    EXPECT_EQ(site->arrivals[0].call, &calls[3 * n]);
    EXPECT_EQ(site->arrivals[2].call, &calls[3 * n + 2]);
    EXPECT_TRUE(site->has_calls());
    sites->end_lane(*site, 0, [](const collective_arrival&) {});
  }
}

// Of barriers nobody needs to look at the members.
TEST(collective_sites, members_without_calls_have_none_together) {
  const auto sites = make_sites({0, 1});
  EXPECT_EQ(sites->arrive(1, 0, {}), nullptr);
  collective_site* const site = sites->arrive(0, 0, {});
  ASSERT_NE(site, nullptr);
  EXPECT_FALSE(site->has_calls());
  for (std::size_t lane = 0; lane < 2; ++lane) sites->end_lane(*site, lane, [](const collective_arrival&) {});
}

}  // namespace
}  // namespace shoal::rank
