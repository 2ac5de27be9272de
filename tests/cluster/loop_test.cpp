// SPDX-License-Identifier: Apache-2.0
#include "shoal/parallel_for.hpp"

#include <atomic>
#include <functional>
#include <set>
#include <stdexcept>
#include <stop_token>

#include "cluster/loop_stops.hpp"
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

// Calls test(place) for each place.
template <class Test>
void at_each_place(const global_array<std::uint32_t>& a, const Test& test) {
  test(shoal::everywhere);
  test(shoal::here);
  test(shoal::owners_of(a));
  if (shoal::node_count() > 1) test(shoal::elsewhere);
}

TEST_P(loops, every_place_takes_every_option) {
  run([] {
    constexpr std::uint64_t k_n = 3001;
    global_array<std::uint32_t> runs(k_n, distribution::cyclic);
    std::uint32_t rounds = 0;
    const std::stop_source source;
    at_each_place(runs, [&](const auto& place) {
      const auto with = [&](auto... options) {
        shoal::parallel_for(
            place, k_n, [r = runs.ref()](std::uint64_t i) { r.add(i, 1); }, options...);
        ++rounds;
        for (std::uint64_t i = 0; i < k_n; ++i) ASSERT_EQ(runs->get(i), rounds) << i;
      };
      with();
      with(shoal::auto_partitioner());
      with(shoal::simple_partitioner{7});
      with(shoal::static_partitioner());
      with(source.get_token(), shoal::simple_partitioner{100});
      with(shoal::stack_bytes(200'000), source.get_token());
    });
    shoal::affinity_partitioner kept;
    for (int sweep = 0; sweep < 3; ++sweep, ++rounds)
      shoal::parallel_for(
          shoal::here, k_n, [r = runs.ref()](std::uint64_t i) { r.add(i, 1); }, kept);
    for (std::uint64_t i = 0; i < k_n; ++i) ASSERT_EQ(runs->get(i), rounds);
  });
}

TEST_P(loops, stack_bytes_hold_on_other_nodes) {
  run([] {
    constexpr std::uint64_t k_n = 50;
    constexpr std::size_t k_bytes = 500'000;  // on a stack of 64 KiB this ends the program
    global_array<std::uint32_t> runs(k_n);
    shoal::parallel_for(
        shoal::everywhere, k_n,
        [r = runs.ref()](std::uint64_t i) {
          volatile char room[k_bytes];
          for (std::size_t k = 0; k < k_bytes; k += 1024) room[k] = static_cast<char>(i);
          r.add(i, room[1024] == static_cast<char>(i) ? 1 : 100);
        },
        shoal::stack_bytes(k_bytes + 100'000));
    for (std::uint64_t i = 0; i < k_n; ++i) ASSERT_EQ(runs->get(i), 1U);
  });
}

TEST_P(loops, take_signed_bounds_boxes_and_parts) {
  run([] {
    global_array<std::int64_t> sum(1);
    shoal::parallel_for(shoal::everywhere, -100, 50, [s = sum.ref()](int i) { s.add(0, i); });
    EXPECT_EQ(sum->get(0), -100 * 150 + 150 * 149 / 2);
    constexpr std::uint64_t k_rows = 31;
    constexpr std::uint64_t k_columns = 17;
    global_array<std::uint32_t> cells(k_rows * k_columns);
    const shoal::range2d box(2, 2 + k_rows, 1, 1 + k_columns);
    shoal::parallel_for(shoal::everywhere, box,
                        [c = cells.ref()](std::uint64_t i, std::uint64_t j) { c.add((i - 2) * k_columns + j - 1, 1); });
    shoal::parallel_for(shoal::everywhere, box, [c = cells.ref()](const shoal::range2d& part) {
      for (auto i = part.rows().begin(); i < part.rows().end(); ++i)
        for (auto j = part.columns().begin(); j < part.columns().end(); ++j) c.add((i - 2) * k_columns + j - 1, 1);
    });
    for (std::uint64_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells->get(i), 2U);
    const auto size = [](const shoal::range1d& part, std::uint64_t before) { return before + part.size(); };
    EXPECT_EQ(shoal::parallel_reduce(shoal::everywhere, shoal::range1d(3, 1000), std::uint64_t{0}, size, std::plus<>()),
              997U);
    EXPECT_EQ(shoal::parallel_reduce(
                  shoal::everywhere, 10, 0, [](int i) { return i; }, std::plus<>(), shoal::simple_partitioner{2}),
              45);
  });
}

// Values whose sum depends on the order of the additions.
double uneven(std::uint64_t i) { return 1.0 / static_cast<double>(1 + shoal::splitmix64::at(5, i) % 1'000'003); }

struct uneven_value {
  double operator()(std::uint64_t i) const { return uneven(i); }
};

TEST_P(loops, deterministic_reductions_do_not_depend_on_nodes_and_workers) {
  static std::atomic<double> first_sum{0};  // partners: the jobs of other shapes, which run one after another
  static std::atomic<double> first_of_box{0};
  run([] {
    constexpr std::uint64_t k_n = 50'000;
    const auto sum = [](const auto& place, const auto& fixed) {
      return shoal::parallel_reduce(place, k_n, 0.0, uneven_value(), std::plus<>(), fixed);
    };
    const double here = sum(shoal::here, shoal::deterministic);
    EXPECT_EQ(sum(shoal::everywhere, shoal::deterministic), here);
    EXPECT_EQ(sum(shoal::everywhere, shoal::deterministic_t{3}), sum(shoal::here, shoal::deterministic_t{3}));
    if (shoal::node_count() > 1) {
      EXPECT_EQ(sum(shoal::elsewhere, shoal::deterministic), here);
    }
    const shoal::range2d box(0, 100, 0, 70);
    const auto of_box = [&](const auto& place) {
      return shoal::parallel_reduce(
          place, box, 0.0, [](std::uint64_t i, std::uint64_t j) { return uneven(i * 70 + j); }, std::plus<>(),
          shoal::deterministic);
    };
    EXPECT_EQ(of_box(shoal::everywhere), of_box(shoal::here));
    global_array<std::uint32_t> a(k_n);
    const double of_owners = sum(shoal::owners_of(a), shoal::deterministic);
    EXPECT_EQ(of_owners, sum(shoal::owners_of(a), shoal::deterministic));
    EXPECT_NEAR(of_owners, here, 1e-9);
    // The first job keeps its bits for the others.
    if (double none = 0; !first_sum.compare_exchange_strong(none, here)) {
      EXPECT_EQ(none, here);
    }
    if (double none = 0; !first_of_box.compare_exchange_strong(none, of_box(shoal::here))) {
      EXPECT_EQ(none, of_box(shoal::here));
    }
  });
}

std::atomic<std::stop_source*> g_asked;  // of node 0; partners: the iterations that ask

TEST_P(loops, stop_on_all_nodes) {
  run([] {
    constexpr std::uint64_t k_n = 1'000'000;
    global_array<std::uint64_t> begun(shoal::node_count());
    at_each_place(global_array<std::uint32_t>(k_n), [&](const auto& place) {
      std::stop_source before;
      before.request_stop();
      shoal::parallel_for(
          place, k_n, [b = begun.ref()](std::uint64_t) { b.add(shoal::node_id(), 1); }, before.get_token());
      for (std::uint32_t n = 0; n < shoal::node_count(); ++n) EXPECT_EQ(begun->get(n), 0U);

      // The 20th iteration of a node asks node 0.
      std::stop_source during;
      g_asked.store(&during);
      shoal::parallel_for(
          place, k_n,
          [b = begun.ref()](std::uint64_t) {
            if (b.fetch_add(shoal::node_id(), 1) == 20) {
              const auto ask = [] { g_asked.load()->request_stop(); };
              if (shoal::node_id() == 0)
                ask();
              else
                shoal::on(0, ask);
            }
            shoal::yield();
          },
          during.get_token());
      std::uint64_t all = 0;
      for (std::uint32_t n = 0; n < shoal::node_count(); ++n) {
        all += begun->get(n);
        begun->put(n, 0);
      }
      EXPECT_GT(all, 0U);
      EXPECT_LT(all, k_n);

      std::stop_source after;
      shoal::parallel_for(
          place, 100, [](std::uint64_t) {}, after.get_token());
      after.request_stop();
    });
    // Nothing is left of the loops.
    shoal::spmd([](shoal::team&) { EXPECT_EQ(shoal::detail::this_port().context->stops->size(), 0U); });
  });
}

TEST(loop_stops, requests_reach_shares_before_and_after_they_begin_and_stay_until_forgotten) {
  shoal::cluster::loop_stops stops;
  const std::uint64_t id = stops.new_id();
  EXPECT_NE(stops.new_id(), id);
  const shoal::cluster::loop_stops::key loop{3, id};
  const shoal::cluster::loop_stops::key other{4, id};
  const auto first = stops.enter(loop);
  const auto of_other = stops.enter(other);
  EXPECT_FALSE(first.stop_requested());
  stops.request(loop);
  EXPECT_TRUE(first.stop_requested());
  stops.leave(loop);
  EXPECT_TRUE(stops.enter(loop).stop_requested());  // a late share
  stops.leave(loop);
  EXPECT_FALSE(of_other.stop_requested());
  stops.leave(other);
  EXPECT_EQ(stops.size(), 1U);
  stops.forget(loop);
  stops.forget(other);
  EXPECT_EQ(stops.size(), 0U);
  EXPECT_FALSE(stops.enter(loop).stop_requested());
  stops.leave(loop);
  stops.request(loop);  // after the end
  EXPECT_EQ(stops.size(), 1U);
  stops.forget(loop);
  EXPECT_EQ(stops.size(), 0U);
}

TEST_P(loops, stop_at_any_moment_and_leave_nothing) {
  run([] {
    for (int round = 0; round < 200; ++round) {
      std::stop_source source;
      shoal::task_group asking;
      asking.run([&] {
        for (int k = 0; k < round % 20; ++k) shoal::yield();
        source.request_stop();
      });
      const auto sum = shoal::parallel_reduce(
          shoal::everywhere, 64, 0, [](int) { return shoal::yield(), 1; }, std::plus<>(), source.get_token(),
          shoal::deterministic_t{1});
      EXPECT_LE(sum, 64);
      asking.wait();
    }
    shoal::spmd([](shoal::team&) { EXPECT_EQ(shoal::detail::this_port().context->stops->size(), 0U); });
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
