// SPDX-License-Identifier: Apache-2.0
// global_counter in jobs of all shapes: nothing is lost or counted twice, whoever waits for whom.
#include "shoal/global_counter.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "shoal/global_map.hpp"
#include "shoal/movable.hpp"
#include "shoal/quiesce.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

class counter : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(counter);

std::string word(std::uint64_t i) { return "word " + std::string(i % 40, '-') + std::to_string(i); }

TEST_P(counter, counts_what_all_nodes_add) {
  run([] {
    constexpr std::uint64_t k_keys = 20'000;  // more than the tables hold
    constexpr std::uint64_t k_adds = 3 * k_keys;
    shoal::global_counter<std::uint64_t> c;
    shoal::parallel_for(shoal::everywhere, k_adds, [c = c.ref()](std::uint64_t i) { c.async_add(i * 7919 % k_keys); });
    EXPECT_EQ(c->total(), k_adds);
    EXPECT_EQ(c->size(), k_keys);
    shoal::global_array<std::uint64_t> wrong(1);
    c->for_each([w = wrong.ref(), c = c.ref()](std::uint64_t key, std::uint64_t count) {
      if (count != 3 || key >= k_keys || c.owner(key) != shoal::node_id()) w.async_add(0, 1);
    });
    EXPECT_EQ(wrong->get(0), 0U);
    EXPECT_EQ(c->count(k_keys), 0U);
    EXPECT_EQ(c->erase(17), 3U);
    EXPECT_EQ(c->erase(17), 0U);
    EXPECT_EQ(c->count(17), 0U);
    c->clear();
    EXPECT_EQ(c->total() + c->size(), 0U);
    c->reserve(1000);
    EXPECT_GT(c->bytes(), 1000U);
  });
}

TEST_P(counter, words_of_skewed_frequency) {
  run([] {
    constexpr std::uint64_t k_words = 500;
    shoal::global_counter<std::string> c(k_words);
    // Word i is added k_words / (i + 1) times.
    shoal::parallel_for(shoal::everywhere, k_words * k_words, [c = c.ref()](std::uint64_t i) {
      const std::uint64_t which = i % k_words;
      if (i / k_words < k_words / (which + 1)) c.async_add(word(which));
    });
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < k_words; ++i) keys.push_back(word(i));
    std::vector<std::uint64_t> counts(keys.size());
    c->count(keys, counts);
    for (std::uint64_t i = 0; i < k_words; ++i) ASSERT_EQ(counts[i], k_words / (i + 1)) << i;
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (std::uint64_t i = 0; i < k_words; ++i) all.emplace_back(keys[i], counts[i]);
    std::ranges::sort(all, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    for (const std::size_t k : {0U, 1U, 10U, 499U, 1000U}) {
      const auto top = c->top_k(k);
      ASSERT_EQ(top.size(), std::min<std::size_t>(k, k_words));
      EXPECT_TRUE(std::equal(top.begin(), top.end(), all.begin())) << k;
    }
  });
}

// Tasks of one worker share its table: the wait of each brings what that task has added, whatever the others do.
TEST_P(counter, each_wait_completes_what_its_task_has_added) {
  run([] {
    constexpr std::uint64_t k_tasks = 300;
    shoal::global_counter<std::uint64_t> c;
    shoal::global_counter<std::uint64_t> other;
    shoal::parallel_for(shoal::everywhere, k_tasks, [c = c.ref(), other = other.ref()](std::uint64_t task) {
      for (std::uint64_t round = 1; round <= 3; ++round) {
        for (std::uint64_t i = 0; i < 20; ++i) {
          c.async_add(task * 20 + i);
          other.async_add(task % 7, 2);
          if (i % 6 == 0) shoal::yield();
        }
        shoal::wait();
        for (const std::uint64_t i : {0, 7, 19})
          SHOAL_ASSERT(c.count(task * 20 + i) == round, "wait() completes what the task has added");
      }
    });
    EXPECT_EQ(c->total(), k_tasks * 60);
    EXPECT_EQ(other->total(), k_tasks * 120);
  });
}

TEST_P(counter, the_end_of_a_task_completes_what_it_has_added) {
  run([this] {
    shoal::global_counter<std::uint64_t> c;
    for (std::uint32_t n = 0; n < nodes(); ++n) {
      shoal::on(n, [c = c.ref()] { c.async_add(5, 10); });
      EXPECT_EQ(c->count(5), 10 * (n + 1));
    }
    shoal::task_group group;
    for (std::uint64_t t = 0; t < 50; ++t) group.run([c = c.ref(), t] { c.async_add(t % 5); });
    group.wait();
    EXPECT_EQ(c->total(), 10 * nodes() + 50);
    for (std::uint64_t t = 0; t < 20; ++t)
      group.run(shoal::movable, [c = c.ref(), t] {
        c.async_add(100 + t);
        shoal::wait();
        SHOAL_ASSERT(c.count(100 + t) == 1, "also where the task may move");
        c.async_add(100 + t);
        shoal::yield();
      });
    group.wait();
    EXPECT_EQ(c->total(), 10 * nodes() + 50 + 40);
  });
}

TEST_P(counter, a_task_that_fails_has_added_what_it_has_added) {
  run([] {
    shoal::global_counter<std::string> c;
    EXPECT_ANY_THROW(shoal::parallel_for(shoal::everywhere, 100, [c = c.ref()](std::uint64_t i) {
      c.async_add(word(i));
      if (i % 10 == 3) throw std::runtime_error("no");
    }));
    const std::uint64_t total = c->total();
    EXPECT_GE(total, 1U);
    EXPECT_LE(total, 100U);
    EXPECT_EQ(c->size(), total);
    EXPECT_THROW(c->async_add(std::string(100'000, 'x')), shoal::error);
    c->async_add(std::string(10'000, 'x'));  // too long for the table
    shoal::wait();
    EXPECT_EQ(c->count(std::string(10'000, 'x')), 1U);
    EXPECT_EQ(c->top_k(200).size(), total + 1);
  });
}

TEST_P(counter, handlers_count) {
  run([] {
    constexpr std::uint64_t k_updates = 2000;
    shoal::global_map<std::uint64_t, std::uint64_t> map;
    shoal::global_counter<std::uint64_t> c;
    shoal::parallel_for(shoal::everywhere, k_updates, [m = map.ref(), c = c.ref()](std::uint64_t i) {
      m.async_update(i, [c, i](std::uint64_t&) { c.async_add(i % 10, 3); });
      c.async_add(i % 10);
    });
    shoal::quiesce();
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(c->count(i), 4 * k_updates / 10);
  });
}

TEST_P(counter, may_be_destroyed_with_counts_on_their_way) {
  run([] {
    for (std::uint64_t round = 0; round < 3; ++round) {
      shoal::global_counter<std::string> c;
      shoal::global_counter<std::string> d;
      for (std::uint64_t i = 0; i < 5000; ++i) c->async_add(word(i));
      d->async_add("d");
      c = std::move(d);
      shoal::wait();
      EXPECT_EQ(c->total(), 1U);
      shoal::global_counter<std::string> e = std::move(c);
      e->async_add("e");
    }
  });
}

TEST_P(counter, many_at_once) {
  run([] {
    std::vector<shoal::global_counter<std::uint32_t>> counters(20);
    struct pair {
      shoal::counter_ref<std::uint32_t> a;
      shoal::counter_ref<std::uint32_t> b;
    };
    for (std::size_t i = 0; i + 1 < counters.size(); i += 2)
      shoal::parallel_for(shoal::everywhere, 1000, [p = pair{counters[i], counters[i + 1]}](std::uint64_t j) {
        p.a.async_add(static_cast<std::uint32_t>(j));
        p.b.async_add(static_cast<std::uint32_t>(j % 3));
        if (j % 100 == 0) shoal::flush();
      });
    for (std::size_t i = 0; i < counters.size(); ++i) {
      EXPECT_EQ(counters[i]->total(), 1000U);
      EXPECT_EQ(counters[i]->size(), i % 2 == 0 ? 1000U : 3U);
    }
    // All tables in use at the same time.
    for (std::uint32_t j = 0; j < 100; ++j)
      for (auto& c : counters) c->async_add(j, 5);
    shoal::wait();
    for (const auto& c : counters) EXPECT_EQ(c->total(), 1500U);
  });
}

}  // namespace
