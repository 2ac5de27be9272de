// SPDX-License-Identifier: Apache-2.0
// Functions on elements where they are, and counts of changes that all nodes share.
#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/shoal.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::distribution;
using shoal::everywhere;
using shoal::global_array;

class array_updates : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(array_updates);

struct mean {
  double sum;
  std::uint64_t count;
  std::uint64_t twice;  // always 2 * count
  std::uint64_t filler[3];
};
struct alignas(8) fraction {
  std::uint32_t top;
  std::uint32_t bottom;
};

template <class T>
void check_type() {
  global_array<T> a(37, distribution::cyclic);
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    a->put(i, static_cast<T>(i));
    const T before = a->update(i, [](T& x) {
      const T old = x;
      x = static_cast<T>(2 * x + 1);
      return old;
    });
    EXPECT_EQ(before, static_cast<T>(i));
    a->update(i, [](T& x) { x = static_cast<T>(x + 3); });
    a->async_update(i, [i](T& x) { x = static_cast<T>(x + static_cast<T>(i)); });
  }
  shoal::wait();
  for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), static_cast<T>(3 * i + 4));
}

TEST_P(array_updates, change_elements_of_all_types) {
  run([] {
    check_type<std::uint8_t>();
    check_type<std::int16_t>();
    check_type<float>();
    check_type<std::uint64_t>();
    check_type<double>();
    global_array<bool> flags(10);
    flags->async_update(9, [](bool& f) { f = !f; });
    shoal::wait();
    EXPECT_TRUE(flags->update(9, [](bool& f) { return f; }));
  });
}

TEST_P(array_updates, are_atomic_with_other_modifications_from_all_nodes) {
  run([] {
    constexpr std::uint64_t k_cells = 3, k_iterations = 9000;
    global_array<std::uint64_t> a(k_cells, distribution::cyclic);
    global_array<fraction> parts(k_cells, distribution::cyclic);
    global_array<mean> large(k_cells, distribution::cyclic);
    shoal::parallel_for(everywhere, k_iterations,
                        [a = a.ref(), parts = parts.ref(), large = large.ref()](std::uint64_t k) {
                          const std::uint64_t i = k % k_cells;
                          a.async_update(i, [](std::uint64_t& x) { x += 2; });
                          a.async_add(i, 1);
                          parts.async_update(i, [](fraction& f) { ++f.top, f.bottom += 2; });
                          large.async_update(i, [](mean& m) { m.sum += 0.5, ++m.count, m.twice += 2; });
                          if (k % 16 != 0) return;
                          a.update(i, [](std::uint64_t& x) { --x; });
                          EXPECT_TRUE(large.update(i, [](const mean& m) { return m.twice == 2 * m.count; }));
                        });
    for (std::uint64_t i = 0; i < k_cells; ++i) {
      constexpr std::uint64_t k_each = k_iterations / k_cells;
      std::uint64_t sixteenth = 0;
      for (std::uint64_t k = 0; k < k_iterations; k += 16) sixteenth += k % k_cells == i ? 1 : 0;
      EXPECT_EQ(a->get(i), 3 * k_each - sixteenth);
      EXPECT_EQ(parts->get(i).top, k_each);
      EXPECT_EQ(parts->get(i).bottom, 2 * k_each);
      EXPECT_EQ(large->get(i).count, k_each);
      EXPECT_EQ(large->get(i).sum, 0.5 * static_cast<double>(k_each));
    }
  });
}

// More than the window of deferred accesses holds, with captures that fit into it and captures that do not.
TEST_P(array_updates, of_mapped_elements_are_complete_after_wait) {
  run([] {
    global_array<std::uint32_t> a(500, distribution::cyclic);
    struct many {
      std::uint64_t x, y, z;
    };
    for (std::uint64_t round = 0; round < 3; ++round)
      for (std::uint64_t i = 0; i < a.size(); ++i) {
        a->async_update(i, [](std::uint32_t& x) { ++x; });
        a->async_update(i, [i](std::uint32_t& x) { x += static_cast<std::uint32_t>(i); });
        a->async_update(i, [i, round](std::uint32_t& x) { x += static_cast<std::uint32_t>(i * round); });
        a->async_update(i, [m = many{i, round, 1}](std::uint32_t& x) { x += static_cast<std::uint32_t>(m.x + m.z); });
        a->async_add(i, 5);
      }
    shoal::wait();
    for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), 3 * (1 + i + i + 1 + 5) + 3 * i) << i;
    // The same from loops, whose end completes them.
    shoal::parallel_for(everywhere, 1000, [a = a.ref()](std::uint64_t k) {
      a.async_update(k % 500, [k](std::uint32_t& x) { x = k < 500 ? x : x + 1; });
    });
    for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), 3 * (1 + i + i + 1 + 5) + 3 * i + 1) << i;
  });
}

TEST_P(array_updates, begin_in_handlers_too) {
  run([] {
    global_array<std::uint64_t> a(64, distribution::cyclic);
    for (std::uint32_t n = 0; n < shoal::node_count(); ++n)
      shoal::async_at(n, [a = a.ref()] {
        for (std::uint64_t i = 0; i < a.size(); ++i) a.async_update(i, [](std::uint64_t& x) { x = 3 * x + 1; });
      });
    shoal::quiesce();
    std::uint64_t expected = 0;
    for (std::uint32_t n = 0; n < shoal::node_count(); ++n) expected = 3 * expected + 1;
    for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), expected);
  });
}

TEST_P(array_updates, bring_exceptions_to_the_caller) {
  run([] {
    global_array<std::uint64_t> a(8);
    for (std::uint64_t i = 0; i < a.size(); ++i) {
      std::string said;
      try {
        a->update(i, [](std::uint64_t& x) {
          x = 1;
          throw std::runtime_error("not this one");
        });
      } catch (const std::exception& e) {
        said = e.what();
      }
      EXPECT_NE(said.find("not this one"), std::string::npos) << said;
      a->update(i, [](std::uint64_t& x) { x = 2; });  // works after it
      EXPECT_EQ(a->get(i), 2U);
    }
  });
}

TEST_P(array_updates, changes_of_a_loop_are_counted_on_all_nodes) {
  run([] {
    // Labels spread along a ring until none changes.
    constexpr std::uint64_t k_size = 300;
    global_array<std::uint32_t> labels(k_size);
    for (std::uint64_t i = 0; i < k_size; ++i) labels->async_put(i, static_cast<std::uint32_t>(i + 1));
    shoal::wait();
    shoal::change_count changed;
    std::uint64_t rounds = 0, total = 0;
    for (std::uint64_t in_round = 1; in_round != 0; ++rounds) {
      shoal::parallel_for(shoal::owners_of(labels), k_size, [l = labels.ref(), c = changed.ref()](std::uint64_t i) {
        const std::uint32_t mine = l.get(i);
        l.async_min((i + 1) % k_size, mine, c);
        l.async_min((i + k_size - 1) % k_size, mine, c);
      });
      in_round = changed.take();
      total += in_round;
    }
    for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(labels->get(i), 1U);
    EXPECT_GE(total, k_size - 1);
    EXPECT_GE(rounds, 2U);
    EXPECT_LE(rounds, k_size);
    shoal::parallel_for(everywhere, 100, [c = changed.ref()](std::uint64_t) { c.count(); });
    EXPECT_EQ(changed.take(), 100U);
    EXPECT_EQ(changed.take(), 0U);
  });
}

using array_updates_death = array_updates;
INSTANTIATE_TEST_SUITE_P(shapes, array_updates_death,
                         testing::Values(shoal::test::job_shape{2, 1, false}, shoal::test::job_shape{2, 1, true}),
                         shoal::test::name_of);

TEST_P(array_updates_death, that_throw_and_nobody_waits_for) {
  for (const std::uint64_t i : {0, 9})
    EXPECT_DEATH(run([i] {
                   global_array<std::uint64_t> a(10);
                   a->async_update(i, [](std::uint64_t&) { throw std::runtime_error("not this one"); });
                   shoal::wait();
                 }),
                 "not this one");
}

#ifdef SHOAL_CHECKED
TEST_P(array_updates_death, that_wait) {
  for (const std::uint64_t i : {0, 9}) {
    EXPECT_DEATH(run([i] {
                   global_array<std::uint64_t> a(10);
                   a->async_update(i, [](std::uint64_t&) { shoal::yield(); });
                   shoal::wait();
                 }),
                 "no_wait scope|It must not wait");
    EXPECT_DEATH(run([i] {
                   global_array<std::uint64_t> a(10);
                   a->update(i, [](std::uint64_t&) { shoal::yield(); });
                 }),
                 "no_wait scope|It must not wait");
  }
}
#endif

}  // namespace
