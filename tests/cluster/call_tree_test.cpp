// SPDX-License-Identifier: Apache-2.0
// Calls of many nodes down a tree: the plan, the number of calls that each node sends, and what is made of it (loops,
// reductions, spmd, arrays, requests to stop, quiescence) on 32 nodes of one process.
#include "shoal/detail/call_tree.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "shoal/distribution.hpp"
#include "shoal/quiesce.hpp"
#include "shoal/spmd.hpp"

namespace shoal {
namespace {

using detail::call_tree;
using detail::node_row;
using detail::tree_plan;

constexpr std::uint32_t k_many = 32;

// What all nodes do, as text, by the plans of all nodes that forward.
std::string evaluated(std::uint32_t begin, std::uint32_t end, std::uint32_t own, std::vector<int>& calls_of) {
  const tree_plan plan(begin, end, own);
  const auto parts = plan.parts();
  const auto value_of = [&](std::size_t i) {
    if (i != plan.own() && own != node_row::k_none) ++calls_of[own];
    return parts[i].is_single() ? std::to_string(parts[i].begin)
                                : evaluated(parts[i].begin, parts[i].end, parts[i].begin, calls_of);
  };
  return plan.fold(value_of, [](const std::string& a, const std::string& b) { return "(" + a + " " + b + ")"; });
}

TEST(tree_plan, reaches_all_with_few_calls_and_combines_alike_whoever_begins) {
  for (std::uint32_t n = 1; n < 140; ++n) {
    std::vector<int> none(n);
    const std::string expected = evaluated(0, n, node_row::k_none, none);
    std::string order;
    for (const char c : expected)
      if (c != '(' && c != ')') order += c;
    std::string ascending;
    for (std::uint32_t i = 0; i < n; ++i) ascending += (i == 0 ? "" : " ") + std::to_string(i);
    EXPECT_EQ(order, ascending) << n;
    for (std::uint32_t own = 0; own < n; ++own) {
      std::vector<int> calls_of(n);
      EXPECT_EQ(evaluated(0, n, own, calls_of), expected) << n << " " << own;
      EXPECT_EQ(std::reduce(calls_of.begin(), calls_of.end()), static_cast<int>(n) - 1) << "each other once";
      for (std::uint32_t i = 0; i < n; ++i)
        EXPECT_LE(calls_of[i], static_cast<int>(std::bit_width(n) + detail::k_direct_nodes)) << n << " " << own;
    }
  }
}

TEST(node_row, places_and_nodes_are_inverse) {
  for (const node_row row :
       {node_row{.first = 0, .count = 7, .wrap = 7}, node_row{.first = 5, .count = 6, .wrap = 7},
        node_row{.first = 0, .count = 6, .wrap = 6, .skip = 3}, node_row{.first = 0, .count = 6, .wrap = 6, .skip = 0},
        node_row{.first = 0, .count = 4, .wrap = 6, .skip = 6}}) {
    std::vector<bool> seen(8);
    for (std::uint32_t place = 0; place < row.count; ++place) {
      EXPECT_EQ(row.place_of(row.node(place)), place);
      seen[row.node(place)] = true;
    }
    for (std::uint32_t n = 0; n < 8; ++n) EXPECT_EQ(row.has(n), seen[n]) << n;
  }
}

class trees : public testing::Test {
protected:
  template <class F>
  void run(F&& main_task, std::uint32_t nodes = k_many) const {
    auto c = runtime::read_config(runtime::all_settings());
    c.nodes = nodes;
    c.workers = 1;
    c.direct = false;
    c.pin = false;
    c.segment_bytes = std::uint64_t{16} << 20;
    c.most_stacks = 1 << 10;
    runtime::run_in_process(c, [&main_task] { return main_task(), 0; });
  }
};

// All nodes are in this process.
std::array<std::atomic<int>, 64> sent_by;
std::array<std::atomic<int>, 64> ran_on;

std::size_t note_call(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  EXPECT_EQ(arguments[1], 4711U);
  ran_on[node_id()].fetch_add(1);
  if (from != node_id()) sent_by[from].fetch_add(1);
  answer[0] = answer[1] = node_id();  // the first and the last node
  return 2;
}

std::size_t join_neighbours(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answers) {
  EXPECT_EQ(arguments[1], 4711U);
  EXPECT_EQ(answers[1] + 1, answers[2]) << "of neighbours, in order";
  answers[1] = answers[3];
  return 2;
}

TEST_F(trees, every_node_sends_few_calls_whoever_begins) {
  for (const std::uint32_t nodes : {2U, 5U, 6U, 13U, k_many}) {
    run(
        [nodes] {
          for (const std::uint32_t begins : {0U, nodes / 2, nodes - 1}) {
            for (auto& n : sent_by) n = 0;
            for (auto& n : ran_on) n = 0;
            shoal::on(begins, [nodes] {
              std::array<std::uint64_t, detail::k_tree_words + 2> words{};
              words.back() = 4711;
              call_tree tree(detail::all_nodes_row(), detail::callee_of<note_call>(),
                             detail::callee_of<join_neighbours>(), 2);
              detail::completion calls;
              tree.begin(calls, words, call_tree::own_part::called);
              calls.wait_and_rethrow();
              const auto all = tree.combined(std::span<const std::uint64_t>(words).subspan(detail::k_tree_words));
              EXPECT_EQ(all[0], 0U);
              EXPECT_EQ(all[1], nodes - 1);
            });
            int sum = 0;
            for (std::uint32_t n = 0; n < nodes; ++n) {
              EXPECT_EQ(ran_on[n].load(), 1) << n;
              EXPECT_LE(sent_by[n].load(), static_cast<int>(std::bit_width(nodes) + detail::k_direct_nodes)) << n;
              sum += sent_by[n].load();
            }
            EXPECT_EQ(sum, static_cast<int>(nodes) - 1) << "one call of each other node";
            const int direct = static_cast<int>(nodes) - 1;
            EXPECT_EQ(sent_by[begins].load() == direct, nodes <= detail::k_direct_nodes + 1);
          }
        },
        nodes);
  }
}

// x -> a x + b: its composition is associative, and not commutative.
struct line {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
};
line then(line first, line second) { return {second.a * first.a, second.a * first.b + second.b}; }

TEST_F(trees, loops_and_reductions_are_those_of_one_node) {
  run([] {
    constexpr std::uint64_t k_n = 5003;
    const auto body = [](std::uint64_t i) { return line{2 * i + 1, i}; };
    const auto combine = [](line x, line y) { return then(x, y); };
    line expected;
    for (std::uint64_t i = 0; i < k_n; ++i) expected = then(expected, body(i));
    for (const std::uint32_t begins : {0U, 17U}) {
      const line got = shoal::on(begins, [=] {
        return shoal::parallel_reduce(shoal::everywhere, k_n, line{}, body, combine, shoal::deterministic);
      });
      EXPECT_EQ(got.a, expected.a);
      EXPECT_EQ(got.b, expected.b);
      const auto sum = shoal::on(begins, [] {
        return shoal::parallel_reduce(
            shoal::everywhere, 30, std::uint64_t{0}, [](std::uint64_t i) { return i; }, std::plus<>());
      });
      EXPECT_EQ(sum, 435U) << "fewer iterations than nodes";
    }
    const auto others = shoal::parallel_reduce(
        shoal::elsewhere, 3100, std::uint64_t{0}, [](std::uint64_t) { return shoal::node_id() == 0 ? 1000 : 1; },
        std::plus<>());
    EXPECT_EQ(others, 3100U);
  });
}

TEST_F(trees, owners_run_what_they_own_and_no_other_runs_anything) {
  run([] {
    constexpr std::uint64_t k_n = 200;
    for (const auto kind : {distribution::partition, distribution::cyclic, distribution::local, distribution::remote}) {
      global_array<std::uint32_t> a(k_n, kind);
      std::vector<std::uint32_t> runs(k_n);
      for (const auto& [begin, end] :
           {std::pair{0U, 200U}, {0U, 1U}, {199U, 200U}, {30U, 35U}, {31U, 33U}, {10U, 150U}}) {
        shoal::parallel_for(shoal::owners_of(a), begin, end,
                            [r = a.ref()](std::uint64_t i) { r.add(i, r.owner(i) == shoal::node_id() ? 1 : 1000); });
        for (std::uint64_t i = begin; i < end; ++i) ++runs[i];
      }
      for (std::uint64_t i = 0; i < k_n; ++i) EXPECT_EQ(a->get(i), runs[i]) << i;
      a->fill(7);
      for (std::uint64_t i = 0; i < k_n; ++i) EXPECT_EQ(a->get(i), 7U) << i;
    }
  });
}

TEST_F(trees, a_failure_anywhere_reaches_who_began_and_all_others_end) {
  run([] {
    for (const std::uint32_t failing : {0U, 1U, 16U, 24U, 31U}) {
      global_array<std::uint64_t> ran(1, distribution::local);
      try {
        shoal::parallel_for(shoal::everywhere, k_many, [failing, r = ran.ref()](std::uint64_t i) {
          r.add(0, 1);
          if (i == failing) throw error(errc::bad_input, "this one");
        });
        ADD_FAILURE();
      } catch (const remote_error& e) {
        EXPECT_EQ(e.node(), failing);
        EXPECT_EQ(e.code(), errc::bad_input);
      }
      EXPECT_EQ(ran->get(0), k_many);
    }
  });
}

TEST_F(trees, a_stopped_loop_ends_on_all_nodes_and_leaves_nothing) {
  run([] {
    std::stop_source source;
    global_array<std::uint64_t> ran(1, distribution::local);
    auto loop = shoal::async([&source, r = ran.ref()] {
      shoal::parallel_for(
          shoal::everywhere, std::uint64_t{1} << 40,
          [r](std::uint64_t) {
            r.add(0, 1);
            shoal::yield();
          },
          source.get_token());
    });
    while (ran->get(0) < 200) shoal::yield();
    source.request_stop();
    loop.get();
    EXPECT_LT(ran->get(0), std::uint64_t{1} << 40);
  });
}

TEST_F(trees, members_meet_and_a_failed_one_ends_the_team) {
  run([] {
    const auto sum = shoal::spmd([](team& t) {
      t.barrier();
      return t.all_reduce(static_cast<std::uint64_t>(t.rank()), std::plus<>{});
    });
    EXPECT_EQ(sum, k_many * (k_many - 1) / 2);
    for (const std::uint32_t failing : {0U, 9U, 16U, 31U}) {
      try {
        shoal::spmd([failing](team& t) {
          if (t.rank() == failing) throw error(errc::bad_input, "this member");
          t.barrier();
        });
        ADD_FAILURE();
      } catch (const remote_error& e) {
        EXPECT_EQ(e.node(), failing);
      }
    }
    shoal::spmd([](team& t) { t.barrier(); });
  });
}

TEST_F(trees, arrays_come_and_go) {
  run([] {
    for (int round = 0; round < 5; ++round) {
      global_array<std::uint64_t> a(k_many * 100);
      shoal::parallel_for(shoal::everywhere, a.size(), [r = a.ref()](std::uint64_t i) { r.async_add(i, i); });
      for (std::uint64_t i = 0; i < a.size(); i += 77) EXPECT_EQ(a->get(i), i);
      EXPECT_EQ(a.memory().asked_bytes, a.size() * sizeof(std::uint64_t));
    }
    EXPECT_THROW(global_array<std::uint64_t>(std::uint64_t{1} << 40), error);
    global_array<std::uint64_t> again(100);
  });
}

struct hop {
  array_ref<std::uint64_t> count;
  std::uint32_t left;
  void operator()() const {
    count.async_add(0, 1);
    if (left == 0) return;
    shoal::async_at((shoal::node_id() * 7 + left) % shoal::node_count(), hop{count, left - 1});
    shoal::async_at((shoal::node_id() + 11) % shoal::node_count(), hop{count, left - 1});
  }
};

TEST_F(trees, quiescence_waits_for_all_that_was_caused) {
  run([] {
    global_array<std::uint64_t> count(1, distribution::local);
    for (std::uint64_t round = 1; round < 4; ++round) {
      shoal::async_at(5, hop{count.ref(), 9});
      shoal::quiesce();
      EXPECT_EQ(count->get(0), round * 1023);
    }
  });
}

TEST_F(trees, loops_within_loops_end) {
  run(
      [] {
        global_array<std::uint64_t> ran(1, distribution::local);
        shoal::parallel_for(shoal::everywhere, 24, [r = ran.ref()](std::uint64_t) {
          shoal::parallel_for(shoal::everywhere, 24, [r](std::uint64_t) {
            shoal::parallel_for(shoal::everywhere, 12, [r](std::uint64_t) { r.async_add(0, 1); });
          });
        });
        EXPECT_EQ(ran->get(0), 24U * 24 * 12);
      },
      12);
}

}  // namespace
}  // namespace shoal
