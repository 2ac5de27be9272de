// SPDX-License-Identifier: Apache-2.0
// What nodes say of their memory: arrays, tables and copies appear and disappear; what was asked for pages and memory
// nodes is reported; a refused allocation names the largest holders.
#include "shoal/memory_use.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "shoal/checkpoint.hpp"
#include "shoal/global_map.hpp"
#include "shoal/global_queue.hpp"
#include "shoal/global_set.hpp"
#include "shoal/global_vector.hpp"
#include "tests/cluster/cluster.hpp"
#include "tests/cluster/folder.hpp"

namespace {

using shoal::array_pages;
using shoal::distribution;
using shoal::global_array;
using shoal::memory_holder;
using shoal::memory_usage;

class memory_uses : public shoal::test::cluster {
protected:
  static const memory_holder* find(const memory_usage& use, const std::string& name) {
    const auto found = std::ranges::find(use.holders, name, &memory_holder::name);
    return found == use.holders.end() ? nullptr : &*found;
  }
};
SHOAL_CLUSTER_TESTS(memory_uses);
INSTANTIATE_TEST_SUITE_P(many_nodes, memory_uses, testing::Values(shoal::test::job_shape{16, 1, false}),
                         shoal::test::name_of);

TEST_P(memory_uses, an_array_appears_and_disappears) {
  run([this] {
    const memory_usage before = shoal::memory_use();
    EXPECT_EQ(before.nodes, nodes());
    const std::uint64_t bytes = std::uint64_t{4096} * 240 * nodes();
    {
      const global_array<std::uint64_t> a(bytes / 8, distribution::partition, {.name = "table"});
      const unsigned line = __LINE__ - 1;
      const memory_usage use = shoal::memory_use();
      EXPECT_EQ(use.arrays.bytes, before.arrays.bytes + bytes);
      EXPECT_EQ(use.array_count, before.array_count + nodes());
      const memory_holder* const held = find(use, "table");
      ASSERT_NE(held, nullptr) << describe(use);
      EXPECT_EQ(held->what, "array of " + std::to_string(bytes / 8) + " elements of 8 bytes");
      EXPECT_EQ(held->place, "cluster/memory_use_test.cpp:" + std::to_string(line));
      EXPECT_EQ(held->count, nodes());
      EXPECT_EQ(held->memory.bytes, bytes);
      const global_array<char> last(5000, distribution::local);
      const memory_usage here = shoal::memory_use(shoal::node_id());
      EXPECT_EQ(here.nodes, 1U);
      EXPECT_GE(here.arrays.bytes, bytes / nodes() + 8192);
    }
    const memory_usage after = shoal::memory_use();
    EXPECT_EQ(after.arrays.bytes, before.arrays.bytes);
    EXPECT_EQ(after.array_count, before.array_count);
    EXPECT_EQ(find(after, "table"), nullptr);
    EXPECT_GE(after.arrays.most_bytes, before.arrays.bytes + bytes);
  });
}

TEST_P(memory_uses, tables_of_containers_grow_and_disappear) {
  run([] {
    const std::uint64_t before = shoal::memory_use().tables.bytes;
    {
      const shoal::global_map<std::uint64_t, std::uint64_t> words(0, "words");
      const shoal::global_set<std::uint64_t> seen;
      const shoal::global_vector<std::uint64_t> found("found");
      const shoal::global_queue<std::uint64_t> level;
      const std::uint64_t empty = shoal::memory_use().tables.bytes;
      EXPECT_GT(empty, before);
      shoal::parallel_for(shoal::everywhere, 20'000, [m = words.ref(), v = found.ref()](std::uint64_t i) {
        m.async_insert(i, i);
        v.push(i);
      });
      const memory_usage use = shoal::memory_use();
      EXPECT_GE(use.tables.bytes, empty + 20'000 * (16 + 1 + 8));
      const memory_holder* const map = find(use, "words");
      ASSERT_NE(map, nullptr) << describe(use);
      EXPECT_EQ(map->what, "global_map");
      EXPECT_EQ(map->memory.bytes, words->bytes());
      EXPECT_GT(map->memory.most_bytes, map->memory.bytes);  // while it grew there was the smaller table, too
      EXPECT_TRUE(map->place.starts_with("cluster/memory_use_test.cpp:")) << map->place;
      const memory_holder* const vector = find(use, "found");
      ASSERT_NE(vector, nullptr) << describe(use);
      EXPECT_GE(vector->memory.bytes, 20'000 * 8U);
      words->clear();
      EXPECT_LT(shoal::memory_use().tables.bytes, use.tables.bytes);
      level->push(1);
      EXPECT_EQ(level.run([](std::uint64_t) {}), 1U);
    }
    EXPECT_EQ(shoal::memory_use().tables.bytes, before);
  });
}

TEST_P(memory_uses, copies_for_checkpoints_are_counted_and_given_back) {
  const shoal::test::folder here;
  run([&] {
    const global_array<std::uint64_t> a(100'000);
    shoal::checkpoint saved(here / "c", {.sync = false});
    saved.add("a", a);
    saved.async_save();
    saved.wait();
    const memory_usage use = shoal::memory_use();
    EXPECT_GE(use.copies.most_bytes, 800'000U);
    EXPECT_EQ(use.copies.bytes, 0U);
  });
}

TEST_P(memory_uses, stacks_buffers_and_blocks_are_reported) {
  run([this] {
    const memory_usage use = shoal::memory_use();
    EXPECT_GT(use.usable_bytes, 0U);
    if (nodes() > 1) {
      EXPECT_GT(use.buffer_reserved_bytes, 0U);
    }
    if (nodes() > 1 && !GetParam().direct) {
      EXPECT_GT(use.buffer_resident_bytes, 0U);
    }
    EXPECT_LE(use.buffer_resident_bytes, use.buffer_reserved_bytes);
    shoal::latch all(1000);
    shoal::task_group waiting;
    for (int i = 0; i < 1000; ++i) waiting.run([&all] { all.arrive_and_wait(); });
    waiting.wait();
    const memory_usage later = shoal::memory_use();
    EXPECT_GE(later.stacks, 1000U);
    EXPECT_GE(later.stack_committed_bytes, later.stacks * (64 << 10));
    EXPECT_GE(later.stack_reserved_bytes, later.stack_committed_bytes);
    EXPECT_GT(later.stack_resident_bytes, 0U);
    EXPECT_GT(later.blocks.most_bytes, 0U);
    EXPECT_GE(later.waiting_limit_bytes, later.waiting_bytes);
  });
}

TEST_P(memory_uses, what_is_refused_names_the_largest_holders) {
  run([this] {
    const global_array<std::uint64_t> a(100'003 * nodes(), distribution::partition, {.name = "large one"});
    try {
      const global_array<std::uint64_t> b(std::uint64_t{1} << 40);
      FAIL() << "8 TiB were allocated";
    } catch (const shoal::error& e) {
      EXPECT_EQ(e.code(), shoal::errc::out_of_memory);
      const std::string said = e.what();
      EXPECT_NE(said.find("'large one', array of "), std::string::npos) << said;
      EXPECT_NE(said.find("made at cluster/memory_use_test.cpp:"), std::string::npos) << said;
    }
    // The segment of 1 GiB is smaller than the memory.
    if (shoal::memory_use(0).usable_bytes > (std::uint64_t{5} << 30)) {
      try {
        const global_array<char> b((std::uint64_t{1} << 30) + 1, distribution::local);
        FAIL() << "more than the segment was allocated";
      } catch (const shoal::error& e) {
        EXPECT_NE(std::string(e.what()).find("the largest: 'large one'"), std::string::npos) << e.what();
      }
    }
    EXPECT_THROW(shoal::memory_use(nodes()), shoal::error);
  });
}

TEST_P(memory_uses, pages_and_memory_nodes_are_as_asked_or_the_report_says_why) {
  run([this] {
    const std::uint64_t size = (std::uint64_t{5} << 20) / 8 * nodes();
    for (const auto pages : {array_pages::as_set, array_pages::small, array_pages::huge})
      for (const auto placement : {shoal::memory_nodes::first_touch, shoal::memory_nodes::interleave}) {
        const global_array<std::uint64_t> a(size, {.pages = pages, .placement = placement});
        const shoal::memory_report& got = a.memory();
        EXPECT_EQ(got.asked_bytes, 8 * size);
        if (pages == array_pages::small) {
          EXPECT_EQ(got.huge_bytes, 0U);
          EXPECT_EQ(got.reason, "small pages were asked for");
        }
        if (placement == shoal::memory_nodes::first_touch) {
          EXPECT_EQ(got.placement, "");
        }
        if (placement == shoal::memory_nodes::interleave && got.placement.empty()) {
          EXPECT_GT(got.memory_nodes, 1U);
        }
        if (got.memory_nodes == 1 && placement == shoal::memory_nodes::interleave) {
          EXPECT_NE(got.placement, "");
        }
        EXPECT_EQ(a->get(size - 1), 0U);
        a->fill(7);
        EXPECT_EQ(a->get(size / 2), 7U);
      }
    EXPECT_EQ(global_array<int>(0, {.pages = array_pages::small}).size(), 0U);
  });
}

}  // namespace
