// SPDX-License-Identifier: Apache-2.0
// Kernels in jobs of all shapes: both forms against their sequential references.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cc/cc.hpp"
#include "kernels/pagerank/pagerank.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/random.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using namespace shoal::kernels;
using shoal::global_graph;
using shoal::graph::direction;
using shoal::graph::edge;

class kernels : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(kernels);
INSTANTIATE_TEST_SUITE_P(many, kernels, testing::Values(shoal::test::job_shape{16, 1, false}), shoal::test::name_of);

struct named_graph {
  std::string name;
  std::uint64_t vertices;
  std::vector<edge> edges;
};

/// Edges that make many components, deep ones, one with a hub, and none.
std::vector<named_graph> small_graphs() {
  std::vector<named_graph> all{{"one vertex", 1, {}}, {"no edges", 200, {}}};
  named_graph path{"path in a random order", 300, {}};
  std::vector<std::uint64_t> order(path.vertices);
  for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [](std::uint64_t i) { return shoal::mix64(i); });
  for (std::uint64_t i = 1; i < order.size(); ++i) path.edges.push_back({order[i - 1], order[i]});
  all.push_back(path);
  named_graph star{"star", 400, {}};
  for (std::uint64_t i = 0; i < star.vertices; ++i) star.edges.push_back({399, i});
  all.push_back(star);
  named_graph few{"few edges", 1000, {}};
  for (std::uint64_t i = 0; i < 700; ++i)
    few.edges.push_back({shoal::splitmix64::at(3, 2 * i) % 1000, shoal::splitmix64::at(3, 2 * i + 1) % 1000});
  all.push_back(few);
  const auto kronecker = shoal::graph::generate_all(shoal::graph::kronecker(9, 4, 7));
  all.push_back({"kronecker", kronecker.vertices, kronecker.list});
  return all;
}

TEST_P(kernels, halo_brings_the_values_of_all_neighbours) {
  run([] {
    for (const auto& [name, vertices, edges] : small_graphs()) {
      const auto g = global_graph<>::build(vertices, edges, {.balance_edges = vertices % 1000 == 0});
      const shoal::graph_halo<> halo(g);
      const auto values = halo.values<std::uint64_t>();
      shoal::spmd([g = g.ref(), h = halo.ref(), x = values.ref()](shoal::team& t) {
        const auto rows = h.local();
        for (std::uint64_t round = 1; round < 4; ++round) {
          for (std::uint64_t i = 0; i < rows.own; ++i) x.local()[i] = (rows.first + i) * round;
          h.exchange(t, x);
          for (std::uint64_t i = 0; i < rows.own; ++i) {
            const auto targets = g.neighbours(rows.first + i);
            SHOAL_ASSERT(rows.row(i).size() == targets.size(), "a row of places is as long as the row");
            for (std::size_t k = 0; k < targets.size(); ++k)
              SHOAL_ASSERT(x.local()[rows.row(i)[k]] == targets[k] * round, "the place has the neighbour's value");
          }
        }
      });
    }
  });
}

TEST_P(kernels, pagerank) {
  run([] {
    const pagerank::options o{.tolerance = 1e-6, .most_rounds = 12};
    for (const auto& [name, vertices, edges] : small_graphs())
      for (const direction way : {direction::both, direction::forward}) {
        const auto g = global_graph<>::build(vertices, edges, {.way = way});
        const auto in = g.transposed();
        const auto ranks = g.values<double>();
        EXPECT_EQ(pagerank::fault_of(g.ref(), ranks.ref(), pagerank::simple(g.ref(), ranks.ref(), o), o), "") << name;
        ranks->fill(0);
        const shoal::graph_halo<> halo(in);
        const auto shares = halo.values<float>();
        const std::uint64_t rounds = pagerank::fast(halo.ref(), g->degrees(), shares.ref(), ranks.ref(), o);
        EXPECT_EQ(pagerank::fault_of(g.ref(), ranks.ref(), rounds, o), "") << name;
        ranks->put(0, ranks->get(0) * 1.1);
        EXPECT_NE(pagerank::fault_of(g.ref(), ranks.ref(), rounds, o), "") << name;
      }
  });
}

TEST_P(kernels, cc) {
  run([] {
    for (const auto& [name, vertices, edges] : small_graphs()) {
      const auto g = global_graph<>::build(vertices, edges);
      const auto labels = g.values<std::uint32_t>();
      cc::simple(g.ref(), labels.ref());
      EXPECT_EQ(cc::fault_of(g.ref(), labels.ref()), "") << name;
      const std::uint64_t components = cc::count(labels.ref());
      labels->fill(~0U);
      const shoal::graph_halo<> halo(g);
      const auto known = halo.values<std::uint32_t>();
      const auto hooks = g.values<std::uint32_t>();
      const std::uint64_t rounds = cc::fast(halo.ref(), known.ref(), labels.ref(), hooks.ref());
      EXPECT_EQ(cc::fault_of(g.ref(), labels.ref()), "") << name;
      EXPECT_EQ(cc::count(labels.ref()), components);
      EXPECT_LE(rounds, 12U) << name;
      labels->put(vertices - 1, labels->get(vertices - 1) + 1);
      EXPECT_NE(cc::fault_of(g.ref(), labels.ref()), "") << name;
    }
  });
}

}  // namespace
