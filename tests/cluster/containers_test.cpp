// SPDX-License-Identifier: Apache-2.0
// Containers over nodes, and objects of nodes, in jobs of all shapes.
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shoal/global_bitset.hpp"
#include "shoal/global_map.hpp"
#include "shoal/global_multimap.hpp"
#include "shoal/global_queue.hpp"
#include "shoal/global_set.hpp"
#include "shoal/global_vector.hpp"
#include "shoal/node_local.hpp"
#include "shoal/quiesce.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

class containers : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(containers);

std::string word(std::uint64_t i) { return "word " + std::string(i % 30, '-') + std::to_string(i); }

struct counted {
  explicit counted(int v) : value(v) { ++alive; }
  ~counted() { --alive; }
  std::atomic<int> value;
  static inline std::atomic<int> alive{0};
};

TEST_P(containers, node_local_objects_are_made_and_destroyed_on_all_nodes) {
  run([this] {
    {
      shoal::node_local<counted> objects(5);
      EXPECT_EQ(counted::alive, static_cast<int>(nodes()));
      shoal::parallel_for(shoal::everywhere, 1000, [o = objects.ref()](int) { o->value.fetch_add(1); });
      const int sum = shoal::parallel_reduce(
          shoal::everywhere, nodes(), 0, [o = objects.ref()](unsigned) { return o->value.load(); }, std::plus<>());
      EXPECT_EQ(sum, 1000 + 5 * static_cast<int>(nodes()));
      shoal::node_local<counted> moved = std::move(objects);
      EXPECT_EQ(counted::alive, static_cast<int>(nodes()));
    }
    EXPECT_EQ(counted::alive, 0);
  });
}

struct throws_on_last_node : counted {
  explicit throws_on_last_node(int) : counted(0) {
    if (shoal::node_id() + 1 == shoal::node_count()) throw std::runtime_error("no object here");
  }
};

TEST_P(containers, a_node_local_object_that_cannot_be_made_leaves_none) {
  run([] {
    EXPECT_THROW(shoal::node_local<throws_on_last_node>(1), shoal::remote_error);
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST_P(containers, a_map_keeps_what_tasks_of_all_nodes_put) {
  run([] {
    constexpr std::uint64_t k_keys = 3000;
    shoal::global_map<std::uint64_t, std::uint64_t> map;
    shoal::parallel_for(shoal::everywhere, k_keys, [m = map.ref()](std::uint64_t i) { m.async_put(i, i * i); });
    EXPECT_EQ(map->size(), k_keys);
    shoal::parallel_for(shoal::everywhere, k_keys, [m = map.ref()](std::uint64_t i) {
      SHOAL_ASSERT(m.get(i) == i * i, "get() brings what was put");
      SHOAL_ASSERT(!m.insert(i, 0) && !m.put(i, i + 1), "the key is present");
      SHOAL_ASSERT(m.get(i) == i + 1, "put() replaces");
      if (i % 3 == 0) SHOAL_ASSERT(m.erase(i) && !m.erase(i), "a key is erased once");
      SHOAL_ASSERT(m.contains(i) == (i % 3 != 0), "erased keys are gone");
    });
    EXPECT_EQ(map->size(), k_keys - k_keys / 3);
    EXPECT_EQ(map->get(k_keys + 1), std::nullopt);
    EXPECT_GT(map->bytes(), k_keys * 16);
    map->clear();
    EXPECT_EQ(map->size(), 0U);
    EXPECT_TRUE(map->insert(7, 1));
  });
}

TEST_P(containers, updates_of_one_key_lose_nothing) {
  run([] {
    constexpr std::uint64_t k_updates = 5000;
    shoal::global_map<std::string, std::uint64_t> map(100);
    shoal::parallel_for(shoal::everywhere, k_updates, [m = map.ref()](std::uint64_t i) {
      m.async_update(word(i % 10), [](std::uint64_t& count) { ++count; });
      m.async_add(word(i % 10), 1);
      m.update(word(i % 10), [i](std::uint64_t& sum, bool) { return sum += i - i + 1; });
    });
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(map->get(word(i)), 3 * k_updates / 10);
    EXPECT_TRUE(map->update("new", [](std::uint64_t& value, bool is_new) { return is_new && value == 0; }));
    EXPECT_EQ(map->apply("absent", [](std::uint64_t& value) { return value; }), std::nullopt);
    EXPECT_FALSE(map->apply("absent", [](std::uint64_t&) {}));
    EXPECT_EQ(map->apply("new", [](std::uint64_t& value) { return value + 1; }), 1U);
  });
}

TEST_P(containers, many_keys_are_looked_up_at_once) {
  run([] {
    shoal::global_map<std::string, std::string> map;
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      if (i % 2 == 0) map->async_put(word(i), "value of " + word(i));
      keys.push_back(word(i));
    }
    shoal::wait();
    std::vector<std::optional<std::string>> values(keys.size());
    map->get(keys, values);
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(values[i].has_value(), i % 2 == 0);
      if (values[i]) {
        ASSERT_EQ(*values[i], "value of " + keys[i]);
      }
    }
  });
}

TEST_P(containers, entries_are_visited_where_they_are) {
  run([] {
    shoal::global_map<std::uint64_t, std::uint64_t> map;
    shoal::global_array<std::uint64_t> visits(1000);
    for (std::uint64_t i = 0; i < 1000; ++i) map->async_put(i, 2 * i);
    shoal::wait();
    map->update_each([](std::uint64_t key, std::uint64_t& value) { value += key; });
    map->for_each([m = map.ref(), v = visits.ref()](std::uint64_t key, std::uint64_t value) {
      SHOAL_ASSERT(value == 3 * key && m.owner(key) == shoal::node_id(), "the entry is of this node");
      v.add(key, 1);  // waits
      m.erase(key);
    });
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(visits->get(i), 1U) << i;
    EXPECT_EQ(map->size(), 0U);
  });
}

TEST_P(containers, exactly_one_insertion_into_a_set_is_the_first) {
  run([this] {
    shoal::global_set<std::uint64_t> set;
    const std::uint64_t first = shoal::parallel_reduce(
        shoal::everywhere, 4000 * nodes(), std::uint64_t{0},
        [s = set.ref()](std::uint64_t i) -> std::uint64_t { return s.insert(i % 500) ? 1 : 0; }, std::plus<>());
    EXPECT_EQ(first, 500U);
    EXPECT_EQ(set->size(), 500U);
    set->async_erase(3);
    set->async_insert(1000);
    shoal::wait();
    EXPECT_FALSE(set->contains(3));
    EXPECT_TRUE(set->contains(1000));
    EXPECT_TRUE(set->erase(1000));
    shoal::global_array<std::uint64_t> sum(1);
    set->for_each([a = sum.ref()](std::uint64_t key) { a.async_add(0, key); });
    EXPECT_EQ(sum->get(0), 499U * 500 / 2 - 3);
  });
}

TEST_P(containers, a_multimap_keeps_all_values_of_a_key) {
  run([] {
    shoal::global_multimap<std::uint32_t, std::uint64_t> map;
    shoal::parallel_for(shoal::everywhere, 10'000,
                        [m = map.ref()](std::uint64_t i) { m.async_insert(static_cast<std::uint32_t>(i % 3), i); });
    EXPECT_EQ(map->keys(), 3U);
    EXPECT_EQ(map->size(), 10'000U);
    for (std::uint32_t k = 0; k < 3; ++k) {
      auto values = map->get(k);  // more than one message
      std::ranges::sort(values);
      ASSERT_EQ(values.size(), map->count(k));
      for (std::uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 3 * i + k);
    }
    map->for_each([](std::uint32_t key, std::span<const std::uint64_t> values) {
      for (const std::uint64_t v : values) SHOAL_ASSERT(v % 3 == key, "values are visited with their key");
    });
    EXPECT_EQ(map->erase(1), 3333U);
    EXPECT_TRUE(map->get(1).empty());
    shoal::global_multimap<std::string, std::string> texts;
    for (std::uint64_t i = 0; i < 500; ++i) texts->async_insert("all", word(i));
    shoal::wait();
    EXPECT_EQ(texts->get("all").size(), 500U);
  });
}

TEST_P(containers, a_vector_keeps_all_that_is_pushed) {
  run([this] {
    shoal::global_vector<std::uint64_t> v;
    shoal::parallel_for(shoal::everywhere, 5000, [v = v.ref()](std::uint64_t i) {
      if (i % 2 == 0)
        v.push(i);
      else
        v.async_push(static_cast<std::uint32_t>(i % shoal::node_count()), i);
    });
    EXPECT_EQ(v->size(), 5000U);
    v->for_each([](std::uint64_t& x) { x *= 2; });
    const auto all = v.collect();
    std::vector<std::uint64_t> values(all.size());
    all->get(0, std::span(values));
    std::ranges::sort(values);
    ASSERT_EQ(values.size(), 5000U);
    for (std::uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 2 * i);
    v->clear();
    EXPECT_EQ(v->size(), 0U);
    EXPECT_EQ(v.collect().size(), 0U);
    shoal::global_vector<std::string> texts;
    for (std::uint64_t i = 0; i < 100; ++i) texts->async_push(static_cast<std::uint32_t>(i % nodes()), word(i));
    shoal::wait();
    EXPECT_EQ(texts->size(), 100U);
  });
}

// A search in a grid: the level of a point is its distance from the first one.
TEST_P(containers, a_queue_runs_level_by_level) {
  run([] {
    constexpr std::uint64_t k_side = 40;
    shoal::global_array<std::uint64_t> level(k_side * k_side);
    shoal::global_array<std::uint64_t> now(1);
    shoal::global_bitset seen(k_side * k_side);
    shoal::global_queue<std::uint64_t> queue;
    seen->set(0);
    queue->async_push(level->owner(0), 0);
    shoal::wait();
    const std::uint64_t levels = queue.run([l = level.ref(), s = seen.ref(), q = queue.ref()](std::uint64_t at) {
      const std::uint64_t x = at % k_side;
      const std::uint64_t y = at / k_side;
      const auto visit = [&](std::uint64_t next) {
        if (s.fetch_set(next)) return;
        l.put(next, l.get(at) + 1);
        q.async_push(l.owner(next), next);
      };
      if (x + 1 < k_side) visit(at + 1);
      if (y + 1 < k_side) visit(at + k_side);
      if (x > 0) visit(at - 1);
      if (y > 0) visit(at - k_side);
    });
    EXPECT_EQ(levels, 2 * k_side - 1);
    EXPECT_EQ(seen->count(), k_side * k_side);
    for (std::uint64_t i = 0; i < k_side * k_side; ++i) ASSERT_EQ(level->get(i), i % k_side + i / k_side);
    EXPECT_EQ(queue->size(), 0U);
  });
}

TEST_P(containers, bits_are_set_once) {
  run([this] {
    constexpr std::uint64_t k_bits = 1000;
    shoal::global_bitset bits(k_bits);
    const std::uint64_t first = shoal::parallel_reduce(
        shoal::everywhere, 3 * k_bits, std::uint64_t{0},
        [b = bits.ref()](std::uint64_t i) -> std::uint64_t { return b.fetch_set(i % k_bits) ? 0 : 1; }, std::plus<>());
    EXPECT_EQ(first, k_bits);
    EXPECT_EQ(bits->count(), k_bits);
    for (std::uint64_t i = 0; i < k_bits; i += 2) bits->async_reset(i);
    shoal::wait();
    EXPECT_FALSE(bits->test(998));
    EXPECT_TRUE(bits->test(999));
    EXPECT_TRUE(bits->fetch_reset(999));
    bits->async_set(0);
    shoal::wait();
    shoal::global_array<std::uint64_t> sum(1);
    bits->for_each_set([s = sum.ref(), b = bits.ref()](std::uint64_t i) {
      SHOAL_ASSERT(b.owner(i) == shoal::node_id(), "a bit is visited where it is");
      s.async_add(0, i);
    });
    EXPECT_EQ(sum->get(0), k_bits * k_bits / 4 - 999);
    bits->clear();
    EXPECT_EQ(bits->count(), 0U);
  });
}

// Handlers use containers: what they begin ends with quiesce().
TEST_P(containers, handlers_may_begin_operations) {
  run([] {
    shoal::global_map<std::uint64_t, std::uint64_t> first;
    shoal::global_map<std::uint64_t, std::uint64_t> second;
    shoal::parallel_for(shoal::everywhere, 2000, [a = first.ref(), b = second.ref()](std::uint64_t i) {
      a.async_update(i, [b, i](std::uint64_t& value) {
        value = i;
        b.async_put(i + 1, i);
        b.async_update(i % 7, [](std::uint64_t&) {});
      });
    });
    shoal::quiesce();
    EXPECT_EQ(first->size(), 2000U);
    EXPECT_EQ(second->size(), 2001U);
  });
}

TEST_P(containers, operations_of_this_node_that_are_deferred_are_complete_after_wait) {
  run([] {
    shoal::global_map<std::uint64_t, std::uint64_t> map;
    const shoal::global_array<std::uint64_t> count(1);
    shoal::parallel_for(shoal::everywhere, 200, [m = map.ref(), c = count.ref()](std::uint64_t i) {
      for (std::uint64_t k = 0; k < 10; ++k) {
        m.async_insert(10 * i + k, i);
        m.async_add(10 * i + k, 1);
        c.async_add(0, 1);
      }
      shoal::wait();
      for (std::uint64_t k = 0; k < 10; ++k) EXPECT_TRUE(m.contains(10 * i + k));
      m.async_erase(10 * i);
    });
    EXPECT_EQ(map->size(), 1800U);
    EXPECT_EQ(count->get(0), 2000U);
  });
}

TEST_P(containers, failures_arrive_where_somebody_waits) {
  run([] {
    shoal::global_map<std::uint64_t, std::string> map;
    for (std::uint64_t i = 0; i < 20; ++i) {
      EXPECT_THROW(map->update(i, [](std::string&) { throw std::runtime_error("no"); }), shoal::remote_error)
          << "a key of this or another node";
      EXPECT_FALSE(map->contains(i)) << "a key whose value could not be made";
      EXPECT_THROW(map->put(i, std::string(100'000, 'x')), shoal::error);
    }
    EXPECT_TRUE(map->put(0, std::string(10'000, 'x')) || true);
    EXPECT_EQ(map->get(0)->size(), 10'000U);
  });
}

}  // namespace
