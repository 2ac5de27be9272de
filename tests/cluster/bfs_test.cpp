// SPDX-License-Identifier: Apache-2.0
// Compares both forms of breadth-first search with a serial one, on graphs that are small enough for both directions.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "graph/csr.hpp"
#include "kernels/bfs/fast.hpp"
#include "kernels/bfs/searcher.hpp"
#include "kernels/bfs/simple.hpp"
#include "kernels/bfs/validator.hpp"
#include "shoal/random.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using namespace shoal::kernels;
namespace graph = shoal::graph;
using bfs::direction;
using graph::edge;

class bfs_search : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(bfs_search);

struct test_graph {
  std::string name;
  std::uint64_t vertices;
  std::vector<edge> edges;
};

test_graph path(std::uint64_t n) {
  test_graph g{"path", n, {}};
  for (std::uint64_t v = 0; v + 1 < n; ++v) g.edges.push_back({v, v + 1});
  return g;
}

test_graph star(std::uint64_t n) {
  test_graph g{"star", n, {}};
  for (std::uint64_t v = 0; v < n; ++v)
    if (v != n / 2) g.edges.push_back({n / 2, v});
  return g;
}

test_graph random_graph(std::uint64_t n, std::uint64_t edges, std::uint64_t seed) {
  test_graph g{"random", n, {}};
  for (std::uint64_t i = 0; i < edges; ++i)
    g.edges.push_back({shoal::splitmix64::at(seed, 2 * i) % n, shoal::splitmix64::at(seed, 2 * i + 1) % n});
  return g;
}

// Two parts without an edge between them, and vertices without edges at both ends of the numbering.
test_graph disconnected() {
  test_graph g{"disconnected", 500, {}};
  for (std::uint64_t v = 10; v < 200; ++v) g.edges.push_back({v, v + 1});
  for (std::uint64_t v = 250; v < 480; ++v) g.edges.push_back({250 + (v - 250) / 2, v});
  return g;
}

test_graph kronecker_graph(int scale) {
  const auto all = graph::generate_all(graph::kronecker(scale, 8, 3));
  return {"kronecker", all.vertices, all.list};
}

std::vector<test_graph> graphs() {
  return {path(700),
          star(1000),
          random_graph(3000, 4000, 5),
          random_graph(900, 20000, 6),
          disconnected(),
          kronecker_graph(9),
          test_graph{"loops", 3, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 1}}},
          test_graph{"one", 1, {{0, 0}}}};
}

std::vector<std::uint64_t> serial_levels(const test_graph& g, std::uint64_t root, direction way) {
  const graph::csr_options options{.symmetrise = way == direction::both, .reverse = way == direction::reverse};
  const auto rows = graph::build_csr<std::uint64_t>(g.edges, g.vertices, 0, g.vertices, options);
  std::vector<std::uint64_t> levels(g.vertices, bfs::k_no_level);
  std::vector<std::uint64_t> queue{root};
  levels[root] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const std::uint64_t u : rows.neighbours(queue[i]))
      if (levels[u] == bfs::k_no_level) {
        levels[u] = levels[queue[i]] + 1;
        queue.push_back(u);
      }
  return levels;
}

void expect_right(bfs::searcher& s, const test_graph& g, std::uint64_t root, direction way) {
  s.search(root);
  const auto parents = s.parents();
  const auto implied = bfs::levels_of_tree(root, parents);
  ASSERT_EQ(implied.fault, bfs::tree_fault::none) << g.name << " from " << root;
  ASSERT_EQ(implied.levels, serial_levels(g, root, way)) << g.name << " from " << root;
  const auto reference = bfs::validate_tree(root, parents, {}, g.edges, way);
  ASSERT_TRUE(reference.right()) << g.name << ": " << reference.message;
  const auto verdict = s.validate();
  EXPECT_TRUE(verdict.right()) << verdict.message;
  EXPECT_EQ(verdict.reached, reference.reached);
  EXPECT_EQ(verdict.deepest, reference.deepest);
  EXPECT_EQ(verdict.traversed, reference.traversed) << g.name;
  EXPECT_EQ(s.traversed(), reference.traversed) << g.name << " from " << root;
}

void search_all(const bfs::searcher_options& options, const std::vector<test_graph>& all) {
  for (const test_graph& g : all) {
    const auto s = bfs::make_searcher(g.vertices, g.edges, options);
    for (const std::uint64_t root : {std::uint64_t{0}, g.vertices / 2, g.vertices - 1})
      expect_right(*s, g, root, options.build.way);
  }
}

TEST_P(bfs_search, simple_form_finds_shortest_ways) {
  run([] {
    bfs::searcher_options options;
    options.form = bfs::search_form::simple;
    search_all(options, {path(70), star(200), random_graph(600, 800, 5), disconnected(), kronecker_graph(7)});
  });
}

TEST_P(bfs_search, fast_form_finds_shortest_ways_whatever_the_direction) {
  run([] {
    for (const auto steps : {bfs::step_kind::automatic, bfs::step_kind::top_down, bfs::step_kind::bottom_up}) {
      bfs::searcher_options options;
      options.search.steps = steps;
      search_all(options, graphs());
    }
  });
}

TEST_P(bfs_search, changes_direction_both_ways_in_one_search) {
  run([] {
    // A dense part with a long tail: bottom-up is faster in the middle only.
    test_graph g = random_graph(2000, 20000, 9);
    g.vertices = 2600;
    for (std::uint64_t v = 1999; v + 1 < g.vertices; ++v) g.edges.push_back({v, v + 1});
    bfs::searcher_options options;
    const auto s = bfs::make_searcher(g.vertices, g.edges, options);
    const auto counts = s->search(0);
    EXPECT_GT(counts.bottom_up, 0U);
    EXPECT_GT(counts.levels, counts.bottom_up + 100);
    for (const std::uint64_t root : {0, 77, 2599}) expect_right(*s, g, root, direction::both);
  });
}

TEST_P(bfs_search, follows_directed_edges_as_asked) {
  run([] {
    for (const auto form : {bfs::search_form::fast, bfs::search_form::simple})
      for (const auto way : {direction::forward, direction::reverse, direction::both}) {
        bfs::searcher_options options;
        options.form = form;
        options.build.way = way;
        search_all(options, {path(70), random_graph(400, 900, 11), disconnected()});
      }
  });
}

TEST_P(bfs_search, refuses_bottom_up_without_both_directions) {
  run([] {
    const test_graph g = path(10);
    bfs::searcher_options options;
    options.build.way = direction::forward;
    options.search.steps = bfs::step_kind::bottom_up;
    EXPECT_THROW(bfs::make_searcher(g.vertices, g.edges, options), shoal::error);
  });
}

TEST_P(bfs_search, generated_graphs_are_those_of_the_generator_however_divided) {
  run([] {
    const graph::kronecker generator(8, 16, 42);
    const auto all = graph::generate_all(generator);
    const test_graph g{"kronecker", all.vertices, all.list};
    const auto s = bfs::make_searcher(generator, bfs::searcher_options{});
    EXPECT_EQ(s->input_edges(), all.edges);
    const auto roots = s->choose_roots(5, 1);
    ASSERT_EQ(roots.size(), 5U);
    for (const std::uint64_t root : roots) expect_right(*s, g, root, direction::both);
  });
}

TEST_P(bfs_search, wide_vertex_numbers_give_the_same) {
  run([] {
    const test_graph g = random_graph(1000, 3000, 8);
    const auto made = bfs::distributed_graph<std::uint64_t>::distribute(g.vertices, g.edges, {});
    bfs::fast_search<std::uint64_t> search(made);
    bfs::validator<std::uint64_t> check(made.view());
    search.run(123);
    const auto verdict = check.check(search.parents(), 123);
    EXPECT_TRUE(verdict.right()) << verdict.message;
    const auto levels = serial_levels(g, 123, direction::both);
    EXPECT_EQ(verdict.reached,
              g.vertices - static_cast<std::uint64_t>(std::count(levels.begin(), levels.end(), bfs::k_no_level)));
    EXPECT_EQ(bfs::count_traversed(made.view(), search.parents()), verdict.traversed);
  });
}

TEST_P(bfs_search, roots_lead_on_and_differ) {
  run([] {
    const auto s = bfs::make_searcher(1000, {{7, 8}, {500, 999}, {3, 3}}, bfs::searcher_options{});
    auto roots = s->choose_roots(16, 1);
    std::sort(roots.begin(), roots.end());
    EXPECT_EQ(roots, (std::vector<std::uint64_t>{7, 8, 500, 999}));
    EXPECT_EQ(s->choose_roots(2, 1).size(), 2U);
    const auto without = bfs::make_searcher(10, {{3, 3}}, bfs::searcher_options{});
    EXPECT_THROW(without->choose_roots(1, 1), shoal::error);
    const auto empty = bfs::make_searcher(10, {}, bfs::searcher_options{});
    EXPECT_THROW(empty->choose_roots(1, 1), shoal::error);
  });
}

// Each way to damage a tree, and the check that must detect it.
TEST_P(bfs_search, validation_finds_trees_that_are_wrong) {
  run([] {
    constexpr auto nobody = bfs::graph_view<std::uint32_t>::k_nobody;
    // A ring with chords, so that some neighbours are wrong parents; an unreached part; a distant end.
    test_graph g{"ring", 600, {}};
    for (std::uint64_t v = 0; v < 400; ++v) g.edges.push_back({v, (v + 1) % 400});
    for (std::uint64_t v = 450; v < 550; ++v) g.edges.push_back({v, v + 1});
    const auto made = bfs::distributed_graph<std::uint32_t>::distribute(g.vertices, g.edges, {});
    bfs::fast_search<std::uint32_t> search(made);
    bfs::validator<std::uint32_t> check(made.view());
    const auto parents = search.parents();
    const auto damaged = [&](auto&& damage) {
      search.run(0);
      EXPECT_TRUE(check.check(parents, 0).right());
      damage();
      return check.check(parents, 0);
    };
    using bfs::tree_fault;
    const auto fault_after_put = [&](std::uint64_t v, std::uint32_t parent) {
      return damaged([&] { parents.put(v, parent); }).fault;
    };
    EXPECT_EQ(fault_after_put(0, 1), tree_fault::root_wrong);
    EXPECT_EQ(fault_after_put(200, nobody), tree_fault::not_spanned);  // the last one: it has no children
    EXPECT_EQ(fault_after_put(100, nobody), tree_fault::parent_unreached);
    EXPECT_EQ(fault_after_put(100, 100), tree_fault::own_parent);
    EXPECT_EQ(fault_after_put(100, 101), tree_fault::cycle);
    EXPECT_EQ(fault_after_put(100, 5000), tree_fault::parent_out_of_range);
    EXPECT_EQ(fault_after_put(451, 450), tree_fault::parent_unreached);
    EXPECT_EQ(fault_after_put(200, 0), tree_fault::level_of_edge);  // too near
    EXPECT_EQ(fault_after_put(575, 0), tree_fault::no_such_edge);   // has no edge at all
    EXPECT_EQ(fault_after_put(3, 398), tree_fault::no_such_edge);   // right level, no such edge
    const auto said = damaged([&] { parents.put(3, 398); });
    EXPECT_NE(said.message.find("vertex 3"), std::string::npos) << said.message;
  });
}

}  // namespace
