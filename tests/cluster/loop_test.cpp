// SPDX-License-Identifier: Apache-2.0
#include "shoal/parallel_for.hpp"

#include <atomic>
#include <set>
#include <stdexcept>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_ref;
using shoal::distribution;
using shoal::global_array;

class loops : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(loops);

TEST_P(loops, everywhere_runs_each_iteration_once_and_nodes_share_them) {
  run([this] {
    constexpr std::uint64_t k_n = 10007;
    global_array<std::uint32_t> runs(k_n);
    global_array<std::uint64_t> by_node(nodes());
    shoal::parallel_for(shoal::everywhere, k_n, [r = runs.ref(), b = by_node.ref()](std::uint64_t i) {
      r.async_add(i, 1);
      b.async_add(shoal::node_id(), 1);
    });
    for (std::uint64_t i = 0; i < k_n; ++i) ASSERT_EQ(runs->get(i), 1U);
    for (unsigned n = 0; n < nodes(); ++n) EXPECT_NEAR(static_cast<double>(by_node->get(n)), 1.0 * k_n / nodes(), 1.0);
  });
}

TEST_P(loops, here_and_elsewhere_are_where_they_say) {
  run([this] {
    std::atomic<std::uint64_t> sum{0};
    shoal::parallel_for(shoal::here, 5, 1000, [&sum](std::uint64_t i) {
      if (shoal::node_id() == 0) sum.fetch_add(i);
    });
    EXPECT_EQ(sum.load(), 1000U * 999 / 2 - 10);
    if (nodes() == 1) return;
    global_array<std::uint64_t> by_node(nodes());
    shoal::parallel_for(shoal::elsewhere, 900, [b = by_node.ref()](std::uint64_t) { b.add(shoal::node_id(), 1); });
    EXPECT_EQ(by_node->get(0), 0U);
    std::uint64_t all = 0;
    for (unsigned n = 1; n < nodes(); ++n) all += by_node->get(n);
    EXPECT_EQ(all, 900U);
  });
}

TEST_P(loops, owners_of_runs_where_the_element_is) {
  run([] {
    for (const auto kind : {distribution::partition, distribution::cyclic, distribution::local, distribution::remote}) {
      global_array<std::uint32_t> a(2001, kind);
      shoal::parallel_for(shoal::owners_of(a), a.size(),
                          [r = a.ref()](std::uint64_t i) { r.put(i, r.owner(i) == shoal::node_id() ? 1 : 100); });
      for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), 1U);
      shoal::parallel_for(shoal::owners_of(a), 100, 700, [r = a.ref()](std::uint64_t i) { r.add(i, 1); });
      for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), i >= 100 && i < 700 ? 2U : 1U);
    }
  });
}

TEST_P(loops, nest) {
  run([] {
    constexpr std::uint64_t k_outer = 40;
    constexpr std::uint64_t k_inner = 30;
    global_array<std::uint32_t> cells(k_outer * k_inner);
    shoal::parallel_for(shoal::everywhere, k_outer, [r = cells.ref()](std::uint64_t i) {
      shoal::parallel_for(shoal::everywhere, k_inner, [r, i](std::uint64_t k) { r.add(i * k_inner + k, 1); });
      shoal::parallel_for(shoal::here, k_inner, [r, i](std::uint64_t k) { r.add(i * k_inner + k, 1); });
    });
    for (std::uint64_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells->get(i), 2U);
  });
}

TEST_P(loops, iterations_that_wait_give_way_to_others) {
  run([] {
    constexpr std::uint64_t k_n = 3000;
    global_array<std::uint64_t> a(k_n);
    shoal::parallel_for(shoal::everywhere, k_n, [r = a.ref()](std::uint64_t i) {
      // Three dependent remote accesses; each waits if the owner's memory is not mapped.
      const auto old = r.fetch_add(shoal::splitmix64::at(1, i) % k_n, 1);
      const auto other = r.fetch_add((i * 31 + old) % k_n, 1);
      r.add((i * 17 + other) % k_n, 1);
    });
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < k_n; ++i) sum += a->get(i);
    EXPECT_EQ(sum, 3 * k_n);
  });
}

TEST_P(loops, hold_iterations_back_when_too_many_wait_and_still_nest) {
  auto c = config();
  c.waiting_bytes = 1;  // the minimum: 16 waiting tasks per worker
  shoal::runtime::run_in_process(c, [] {
    constexpr std::uint64_t k_n = 2000;
    global_array<std::uint64_t> a(k_n, distribution::cyclic);
    shoal::parallel_for(shoal::everywhere, k_n, [r = a.ref()](std::uint64_t i) {
      r.fetch_add(i + 1 < k_n ? i + 1 : 0, 1);
      shoal::parallel_for(shoal::everywhere, 8, [r, i](std::uint64_t k) { r.fetch_add((i + k) % k_n, 1); });
    });
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < k_n; ++i) sum += a->get(i);
    EXPECT_EQ(sum, 9 * k_n);
    return 0;
  });
}

TEST_P(loops, reduce) {
  run([] {
    constexpr std::uint64_t k_n = 100000;
    const auto add = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    EXPECT_EQ(shoal::parallel_reduce(
                  shoal::everywhere, k_n, std::uint64_t{0}, [](std::uint64_t i) { return i; }, add),
              k_n * (k_n - 1) / 2);
    EXPECT_EQ(shoal::parallel_reduce(
                  shoal::here, k_n, std::uint64_t{0}, [](std::uint64_t i) { return i; }, add),
              k_n * (k_n - 1) / 2);
    EXPECT_EQ(shoal::parallel_reduce(
                  shoal::everywhere, 0, std::uint64_t{17}, [](std::uint64_t i) { return i; }, add),
              17U);
    global_array<double> a(1000);
    a->fill(0.5);
    EXPECT_EQ(shoal::parallel_reduce(
                  shoal::owners_of(a), a.size(), 0.0, [r = a.ref()](std::uint64_t i) { return r.get(i); },
                  [](double x, double y) { return x + y; }),
              500.0);
  });
}

TEST_P(loops, an_exception_ends_the_loop_and_reaches_its_caller) {
  run([] {
    const auto failing = [](std::uint64_t i) {
      if (i == 777) throw std::out_of_range("iteration 777");
    };
    try {
      shoal::parallel_for(shoal::everywhere, 1000, failing);
      FAIL();
    } catch (const shoal::remote_error& e) {
      EXPECT_EQ(e.type(), "std::out_of_range");
      EXPECT_EQ(e.message(), "iteration 777");
    }
    EXPECT_THROW(shoal::parallel_for(shoal::everywhere, 1, [](std::uint64_t) { throw 1; }), shoal::remote_error);
    const auto failing_value = [](std::uint64_t i) -> int { return i == 0 ? throw std::out_of_range("0") : 1; };
    EXPECT_THROW(shoal::parallel_reduce(shoal::everywhere, 10, 0, failing_value, [](int x, int y) { return x + y; }),
                 shoal::remote_error);
    EXPECT_THROW(shoal::parallel_for(shoal::here, 1000, failing), std::out_of_range);
    shoal::parallel_for(shoal::everywhere, 10, [](std::uint64_t) {});
  });
}

TEST_P(loops, async_operations_of_a_loop_are_complete_when_it_returns) {
  run([] {
    global_array<std::uint64_t> a(5000);
    for (int round = 1; round <= 20; ++round) {
      shoal::parallel_for(shoal::everywhere, a.size(),
                          [r = a.ref()](std::uint64_t i) { r.async_add(shoal::splitmix64::at(3, i) % r.size(), 1); });
      const auto sum = shoal::parallel_reduce(
          shoal::owners_of(a), a.size(), std::uint64_t{0}, [r = a.ref()](std::uint64_t i) { return r.get(i); },
          [](std::uint64_t x, std::uint64_t y) { return x + y; });
      ASSERT_EQ(sum, round * a.size());
    }
  });
}

}  // namespace
