// SPDX-License-Identifier: Apache-2.0
// Kernels in jobs of all shapes: both forms against their sequential references.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cc/cc.hpp"
#include "kernels/hashmap/hashmap.hpp"
#include "kernels/kmers/kmers.hpp"
#include "kernels/pagerank/pagerank.hpp"
#include "kernels/sssp/fast.hpp"
#include "kernels/sssp/sssp.hpp"
#include "kernels/tc/fast.hpp"
#include "kernels/tc/tc.hpp"
#include "kernels/uts/uts.hpp"
#include "kernels/walk/walk.hpp"
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

TEST_P(kernels, walk) {
  run([] {
    for (const auto& [name, vertices, edges] : small_graphs()) {
      const auto g = global_graph<>::build(vertices, edges, {.balance_edges = vertices % 1000 == 0});
      const walk::options o{.length = 20, .seed = 5};
      for (const std::uint64_t walkers : {std::uint64_t{1}, (vertices + 1) / 2}) {
        const shoal::global_array<std::uint64_t> traces(walkers);
        const std::uint64_t steps = walk::simple(g.ref(), traces.ref(), o);
        EXPECT_EQ(walk::fault_of(g.ref(), traces.ref(), o, steps, ~0ULL), "") << name;
        traces->fill(0);
        EXPECT_EQ(walk::fast(g.ref(), traces.ref(), o), steps) << name;
        EXPECT_EQ(walk::fault_of(g.ref(), traces.ref(), o, steps, ~0ULL), "") << name;
        EXPECT_EQ(walk::fault_of(g.ref(), traces.ref(), o, steps, 100), "") << name;
        EXPECT_NE(walk::fault_of(g.ref(), traces.ref(), o, steps + 1, ~0ULL), "") << name;
        traces->add(0, 1);
        EXPECT_NE(walk::fault_of(g.ref(), traces.ref(), o, steps, 100), "") << name;
      }
    }
  });
}

template <class Weight>
void check_sssp(const named_graph& input, Weight delta) {
  const auto plain = global_graph<>::build(input.vertices, input.edges);
  const auto g = plain.weighted([](std::uint64_t v, std::uint64_t u) {
    return static_cast<Weight>(sssp::random_weight{3}(v, u)) * static_cast<Weight>(0.7 * 2);
  });
  const auto distances = g.template values<Weight>();
  const std::uint64_t source = input.vertices / 2;
  sssp::simple(g.ref(), distances.ref(), source, delta);
  EXPECT_EQ(sssp::fault_of(g.ref(), distances.ref(), source), "") << input.name;
  distances->fill(0);
  const shoal::graph_halo<> halo(plain);
  sssp::fast(g.ref(), halo.ref(), distances.ref(), source, delta);
  EXPECT_EQ(sssp::fault_of(g.ref(), distances.ref(), source), "") << input.name;
  distances->add(source, 1);
  EXPECT_NE(sssp::fault_of(g.ref(), distances.ref(), source), "") << input.name;
}

TEST_P(kernels, sssp) {
  run([] {
    for (const named_graph& one : small_graphs()) {
      check_sssp<std::uint32_t>(one, 40);
      check_sssp<double>(one, 1e-4);  // more bins than there are
    }
  });
}

TEST_P(kernels, hashmap) {
  run([] {
    hashmap::word_list lines;
    for (const std::string_view word :
         {"live", "evil", "level", "no", "on", "live", "straw", "warts", "a", "b", "evil"}) {
      lines.text.insert(lines.text.end(), word.begin(), word.end());
      lines.begins.push_back(lines.text.size());
    }
    const hashmap::word_pool read(std::move(lines));
    const hashmap::word_pool made(400, 7);
    for (const hashmap::word_pool* pool : {&read, &made}) {
      const hashmap::options o{.tasks = 30, .length = 20, .seed = 3};
      const hashmap::string_map map;
      hashmap::fill(map, pool->ref());
      std::uint64_t found = hashmap::simple(map, pool->ref(), o);
      EXPECT_EQ(hashmap::fault_of(map, pool->ref(), o, found), "");
      hashmap::fill(map, pool->ref());
      found = hashmap::fast(map, pool->ref(), o);
      EXPECT_EQ(hashmap::fault_of(map, pool->ref(), o, found), "");
      EXPECT_NE(hashmap::fault_of(map, pool->ref(), o, found + 1), "");
      map->async_add(pool->ref().at(0), 1000);
      shoal::wait();
      EXPECT_NE(hashmap::fault_of(map, pool->ref(), o, found + 1000), "");
      map->erase(pool->ref().at(0));
      EXPECT_NE(hashmap::fault_of(map, pool->ref(), o, found), "");
    }
  });
}

TEST_P(kernels, uts) {
  run([] {
    for (const uts::tree& t : {uts::tree{.levels = 6},
                               uts::tree{.kind = uts::tree_kind::binomial, .b0 = 50, .q = 0.12, .m = 8, .seed = 42}}) {
      const uts::counts expected = uts::search_alone(t);
      EXPECT_GT(expected.nodes, 500U);
      EXPECT_EQ(uts::sum_of(uts::simple(t)), expected);
      EXPECT_EQ(uts::sum_of(uts::fast(t)), expected);
    }
  });
}

TEST_P(kernels, tc) {
  run([] {
    std::vector<named_graph> all = small_graphs();
    named_graph complete{"complete", 40, {}};
    for (std::uint64_t v = 0; v < 40; ++v)
      for (std::uint64_t u = 0; u < v; ++u) complete.edges.push_back({v, u});
    all.push_back(complete);
    for (const auto& [name, vertices, edges] : all) {
      const auto g = global_graph<>::build(vertices, edges);
      const std::uint64_t count = tc::simple(g.ref());
      EXPECT_EQ(tc::fault_of(g.ref(), count), "") << name;
      EXPECT_NE(tc::fault_of(g.ref(), count + 1), "") << name;
      EXPECT_TRUE(name != "complete" || count == 40U * 39 * 38 / 6) << count;
      const auto up = tc::upward(g.ref());
      const shoal::graph_halo<> halo(up);
      const auto begins = halo.values<std::uint64_t>();
      const auto lengths = halo.values<std::uint32_t>();
      for (const std::uint64_t most : {std::uint64_t{1} << 20, std::uint64_t{7}})  // targets at once
        EXPECT_EQ(tc::fast(up.ref(), halo.ref(), begins.ref(), lengths.ref(), most).triangles, count) << name;
    }
  });
}

TEST_P(kernels, kmers) {
  run([] {
    const kmers::reads reads{.genome = 3000, .length = 60, .count = 200, .errors = 0.02};
    const kmers::base_store bases(reads, 5);
    for (const kmers::shape s : {kmers::shape{21, true}, kmers::shape{32, false}}) {
      const kmers::summary expected = kmers::reference_of(reads, 5, s, 10);
      const shoal::global_counter<std::uint64_t> counts;
      kmers::simple(counts, bases.ref(), s);
      EXPECT_EQ(kmers::difference(kmers::summary_of(counts, 10), expected, s.k), "");
      const shoal::node_local<kmers::part_tables> tables;
      kmers::fast(tables, bases.ref(), s, 1000);  // several rounds
      kmers::summary found = kmers::summary_of(tables, 10);
      EXPECT_EQ(kmers::difference(found, expected, s.k), "");
      EXPECT_EQ(kmers::number_of(bases.ref(), s), expected.total);
      counts->async_add(0, 1);
      shoal::wait();
      EXPECT_NE(kmers::difference(kmers::summary_of(counts, 10), expected, s.k), "");
      ++found.checksum;
      EXPECT_NE(kmers::difference(found, expected, s.k), "");
    }
  });
}

}  // namespace
