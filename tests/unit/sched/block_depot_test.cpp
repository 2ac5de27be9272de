// SPDX-License-Identifier: Apache-2.0
#include "sched/block_depot.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

using block = block_depot::block;
constexpr unsigned k_chain = detail::worker_base::k_chain;

// A chain of blocks, and whether they are distinct and as long as they should be.
block* cut_chain(block_slab& slab, std::set<std::byte*>& seen, std::size_t bytes) {
  block* chain = nullptr;
  for (unsigned have = 0; have < k_chain;) {
    unsigned count = 0;
    for (block* b = slab.cut(count); b != nullptr;) {
      block* const next = b->next;
      auto* const at = reinterpret_cast<std::byte*>(b);
      EXPECT_TRUE(seen.insert(at).second);
      const auto after = seen.upper_bound(at);
      EXPECT_TRUE(after == seen.end() || at + bytes <= *after);
      std::memset(at, 0x5a, bytes);
      if (have < k_chain) {
        b->next = chain;
        chain = b;
        ++have;
      } else {
        b->next = nullptr;
        block_depot::release(b);
      }
      b = next;
    }
  }
  return chain;
}

TEST(block_depot, gives_the_chains_that_were_put) {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{128}}) {
    block_depot depot;
    std::set<std::byte*> seen;
    block_slab slab(bytes);
    EXPECT_EQ(depot.take_all(), nullptr);
    for (int i = 0; i < 3; ++i) depot.put(cut_chain(slab, seen, bytes));
    unsigned blocks = 0;
    for (auto* c = depot.take_all(); c != nullptr;) {
      auto* const next = static_cast<block_depot::chain*>(c->next.read());
      block* const first = block_depot::open(c);
      for (block* b = first; b != nullptr; b = b->next, ++blocks)
        EXPECT_EQ(seen.count(reinterpret_cast<std::byte*>(b)), 1U);
      block_depot::release(first);
      c = next;
    }
    EXPECT_EQ(blocks, 3 * k_chain);
    EXPECT_EQ(depot.take_all(), nullptr);
  }
}

TEST(block_depot, keeps_no_more_than_its_bound) {
  block_depot depot;
  std::set<std::byte*> seen;
  block_slab slab(64);
  for (unsigned i = 0; i < block_depot::k_most_chains + 10; ++i) {
    seen.clear();  // memory that was given back comes again
    depot.put(cut_chain(slab, seen, 64));
  }
  unsigned chains = 0;
  for (auto* c = depot.take_all(); c != nullptr; ++chains) {
    auto* const next = static_cast<block_depot::chain*>(c->next.read());
    block_depot::release(block_depot::open(c));
    c = next;
  }
  EXPECT_EQ(chains, block_depot::k_most_chains);
}

// Two threads release the halves of each slab; whoever is last gives it back, and the other must not look at it again.
TEST(block_depot, threads_release_the_blocks_of_a_slab_at_the_same_time) {
  constexpr int k_rounds = 300;
  std::array<std::vector<block*>, 2> halves;
  for (int i = 0; i < k_rounds; ++i) {
    block_slab slab(64);
    for (unsigned have = 0; have < k_chain;) {
      unsigned count = 0;
      block* const first = slab.cut(count);
      halves[have / 32 % 2].push_back(first);
      have += count;
    }
  }
  std::atomic<int> ready{0};
  const auto release_all = [&ready](const std::vector<block*>& lists) {
    ready.fetch_add(1);
    while (ready.load() < 2) std::this_thread::yield();
    for (block* const b : lists) block_depot::release(b);
  };
  std::thread other([&] { release_all(halves[1]); });
  release_all(halves[0]);
  other.join();
}

// Blocks of slabs that are partly in use are used again, in whichever order they were freed.
TEST(block_depot, phases_of_the_same_tasks_need_no_more_slabs) {
  run_pool(1, [] {
    const auto phase = [] {
      std::vector<future<int>> all;
      for (int i = 0; i < rounds(4'000, 1'000); ++i)
        all.push_back(async([i] { return i; }).then([](int x) { return x; }));
      for (auto& f : all) f.get();
    };
    const auto slabs = [] { return block_store::of_size(64).slabs() + block_store::of_size(128).slabs(); };
    for (int i = 0; i < 3; ++i) phase();
    const std::size_t before = slabs();
    for (int i = 0; i < 40; ++i) phase();
    EXPECT_LE(slabs(), before + 2);
  });
}

TEST(block_store, gives_slabs_without_a_used_block_back_but_for_a_few) {
  block_store& store = block_store::of_size(128);
  const std::size_t before = store.slabs();
  {
    block_slab slab(128);
    block* all = nullptr;
    for (int i = 0; i < 1000; ++i) {  // many slabs
      unsigned count = 0;
      block* const first = slab.cut(count);
      block* last = first;
      while (last->next != nullptr) last = last->next;
      last->next = all;
      all = first;
    }
    EXPECT_GE(store.slabs(), before + 10);
    store.give(all);
  }
  EXPECT_LE(store.slabs(), before + block_store::k_most_spare);
  unsigned count = 0;
  block* const again = store.take(10, count);
  EXPECT_EQ(count, 10U);
  store.give(again);
}

// The group's task allocates all blocks; whoever runs a task frees its block.
TEST(block_depot, many_tasks_run_once_whoever_frees_their_blocks) {
  run_pool(2, [] {
    std::atomic<std::uint64_t> ran{0};
    for (int round = 0; round < 20; ++round) {
      task_group group;
      for (int i = 0; i < 20'000; ++i) group.run([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
      group.wait();
    }
    EXPECT_EQ(ran.load(), 400'000U);
  });
}

}  // namespace
}  // namespace shoal::sched
