// SPDX-License-Identifier: Apache-2.0
// Graphs over all nodes, in jobs of all shapes, against a sequential builder.
#include "shoal/graph.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/csr.hpp"
#include "graph/csr_file.hpp"
#include "shoal/random.hpp"
#include "tests/cluster/cluster.hpp"
#include "tests/unit/graph/input.hpp"

namespace {

using shoal::global_graph;
using shoal::graph_options;
using shoal::graph::direction;
using shoal::graph::edge;

class graphs : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(graphs);
INSTANTIATE_TEST_SUITE_P(many, graphs, testing::Values(shoal::test::job_shape{16, 1, false}), shoal::test::name_of);

using rows = std::vector<std::vector<std::uint64_t>>;

rows naive(const std::vector<edge>& edges, std::uint64_t vertices, const graph_options& o) {
  const direction way = o.way.value_or(direction::both);
  rows made(vertices);
  for (const edge& e : edges) {
    if (e.from == e.to && o.drop_self_loops) continue;
    if (way != direction::reverse) made[e.from].push_back(e.to);
    if (way == direction::reverse || (way == direction::both && e.from != e.to)) made[e.to].push_back(e.from);
  }
  for (auto& row : made) {
    std::ranges::sort(row);
    if (o.drop_duplicates) row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return made;
}

/// All rows, read at their owners.
template <class Id, class Weight>
rows collect(const shoal::graph_ref<Id, Weight>& g) {
  rows all(g.vertices());
  std::vector<Id> room;
  for (std::uint64_t v = 0; v < g.vertices(); ++v) {
    const auto row = g.row(v, room);
    all[v].assign(row.begin(), row.end());
    EXPECT_EQ(g.degree(v), row.size());
    std::ranges::sort(all[v]);
  }
  return all;
}

/// What every graph promises about where its rows are.
template <class Id, class Weight>
void expect_consistent(const shoal::graph_ref<Id, Weight>& g) {
  const std::uint64_t seen = shoal::parallel_reduce(
      shoal::everywhere, shoal::node_count(), std::uint64_t{0},
      [g](std::uint64_t) {
        std::uint64_t arcs = 0;
        const auto own = g.local();
        for (const std::uint64_t v : g.local_rows()) {
          SHOAL_ASSERT(g.owner(v) == shoal::node_id() && g.is_local(v) && own.contains(v), "own vertices");
          SHOAL_ASSERT(own.neighbours(v).data() == g.neighbours(v).data(), "one row");
          SHOAL_ASSERT(own.degree(v) == g.degrees().local()[v - own.first], "the degree is the length");
          arcs += g.neighbours(v).size();
        }
        SHOAL_ASSERT(arcs == own.arcs(), "rows are contiguous");
        return arcs;
      },
      std::plus<>());
  EXPECT_EQ(seen, g.arcs());
}

std::vector<edge> some_edges(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed) {
  std::vector<edge> list;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t from = shoal::splitmix64::at(seed, 2 * i) % vertices;
    list.push_back({from * from / vertices, shoal::splitmix64::at(seed, 2 * i + 1) % vertices});
  }
  return list;
}

TEST_P(graphs, rows_are_those_of_a_sequential_builder) {
  run([] {
    for (const std::uint64_t vertices : {1U, 2U, 65U, 300U}) {
      const auto list = some_edges(vertices, 4 * vertices, vertices);
      for (const graph_options& o :
           {graph_options{}, graph_options{.way = direction::forward}, graph_options{.way = direction::reverse},
            graph_options{.drop_self_loops = false, .drop_duplicates = false},
            graph_options{.highest_degree_first = true}, graph_options{.balance_edges = true}}) {
        const auto g = global_graph<>::build(vertices, list, o);
        EXPECT_EQ(g.header().edges, list.size());
        ASSERT_EQ(collect(g.ref()), naive(list, vertices, o)) << vertices;
        expect_consistent(g.ref());
      }
    }
  });
}

TEST_P(graphs, without_edges_or_vertices) {
  run([] {
    const auto empty = global_graph<>::build(0, std::span<const edge>{});
    EXPECT_EQ(empty.vertices() + empty.arcs(), 0U);
    expect_consistent(empty.ref());
    const auto isolated = global_graph<std::uint64_t>::build(100, std::span<const edge>{}, {.balance_edges = true});
    EXPECT_EQ(collect(isolated.ref()), rows(100));
    EXPECT_EQ(isolated.values<int>(3)->get(99), 3);
    expect_consistent(isolated.ref());
  });
}

TEST_P(graphs, generated_in_parts) {
  run([] {
    const shoal::graph::kronecker generator(9, 8, 5);
    const auto all = shoal::graph::generate_all(generator);
    const auto g = global_graph<>::generate(generator);
    ASSERT_EQ(collect(g.ref()), naive(all.list, all.vertices, {}));
    const auto by_edges = global_graph<std::uint64_t>::generate(generator, {.balance_edges = true});
    ASSERT_EQ(collect(by_edges.ref()), naive(all.list, all.vertices, {}));
  });
}

TEST_P(graphs, balanced_by_edges) {
  run([this] {
    // The first vertices have all edges: with equal blocks the first node would have all of them.
    constexpr std::uint64_t k_vertices = 64 * 64;
    std::vector<edge> list;
    for (std::uint64_t i = 0; i < 8000; ++i) list.push_back({i % 64, 64 + i % (k_vertices - 64)});
    const auto g = global_graph<>::build(k_vertices, list,
                                         {.way = direction::forward, .drop_duplicates = false, .balance_edges = true});
    ASSERT_EQ(collect(g.ref()), naive(list, k_vertices, {.way = direction::forward, .drop_duplicates = false}));
    for (unsigned n = 0; n < nodes(); ++n) {
      const std::uint64_t share = shoal::on(n, [g = g.ref()] { return g.local().arcs() + g.local().size(); });
      EXPECT_NEAR(static_cast<double>(share), 12096.0 / nodes(), 200) << n;
    }
    // What is made of it has its vertices at the same owners.
    const auto back = g.transposed();
    const auto weighted = g.weighted([](std::uint64_t, std::uint64_t) { return 1; });
    for (std::uint64_t v = 0; v < k_vertices; v += 7) {
      ASSERT_EQ(back->owner(v), g->owner(v));
      ASSERT_EQ(weighted->owner(v), g->owner(v));
    }
  });
}

TEST_P(graphs, transposed_and_relabelled) {
  run([] {
    constexpr std::uint64_t k_vertices = 700;
    const auto list = some_edges(k_vertices, 3000, 8);
    const auto g = global_graph<>::build(k_vertices, list, {.way = direction::forward});
    const auto back = g.transposed();
    EXPECT_EQ(back->way(), direction::reverse);
    ASSERT_EQ(collect(back.ref()), naive(list, k_vertices, {.way = direction::reverse}));

    const auto labels = g.labels_by_degree();
    std::vector<std::uint32_t> label(k_vertices);
    labels->get(0, std::span(label));
    EXPECT_EQ(std::set<std::uint32_t>(label.begin(), label.end()).size(), k_vertices);
    const auto sorted = g.relabelled(labels);
    const rows before = collect(g.ref());
    const rows after = collect(sorted.ref());
    for (std::uint64_t v = 0; v < k_vertices; ++v) {
      std::vector<std::uint64_t> row;
      for (const std::uint64_t u : before[v]) row.push_back(label[u]);
      std::ranges::sort(row);
      ASSERT_EQ(after[label[v]], row);
      if (v > 0) {
        ASSERT_LE(after[v].size(), after[v - 1].size());
      }
    }
    expect_consistent(sorted.ref());

    // Parallel arcs stay.
    const auto all = global_graph<>::build(k_vertices, list, {.way = direction::forward, .drop_duplicates = false});
    EXPECT_EQ(all.relabelled(labels).arcs(), all.arcs());
  });
}

TEST_P(graphs, weights_stay_with_their_arcs) {
  run([] {
    using arc = shoal::graph::arc<std::uint32_t, double>;
    constexpr std::uint64_t k_vertices = 200;
    std::vector<arc> list;
    std::map<std::pair<std::uint64_t, std::uint64_t>, double> least;
    for (const edge& e : some_edges(k_vertices, 2000, 4)) {
      const auto weight = static_cast<double>(shoal::mix64(list.size()) % 100);
      list.push_back({static_cast<std::uint32_t>(e.from), static_cast<std::uint32_t>(e.to), weight});
      if (e.from == e.to) continue;
      for (const auto& ends : {std::pair{e.from, e.to}, std::pair{e.to, e.from}}) {
        const auto [at, is_new] = least.try_emplace(ends, weight);
        if (!is_new) at->second = std::min(at->second, weight);
      }
    }
    const auto g = global_graph<std::uint32_t, double>::build(k_vertices, list);
    EXPECT_EQ(g.arcs(), least.size());
    for (const auto& turned : {g.transposed(), g.relabelled(g.labels_by_degree()).transposed()})
      EXPECT_EQ(turned.arcs(), least.size());
    std::map<std::pair<std::uint64_t, std::uint64_t>, double> found;
    const shoal::global_array<double> copy(k_vertices);
    for (unsigned n = 0; n < shoal::node_count(); ++n) {
      for (std::uint64_t v = 0; v < k_vertices; ++v) {
        if (g->owner(v) != n) continue;
        shoal::on(n, [g = g.ref(), v, copy = copy.ref()] { copy.put(0, g.weights(v)); });
        std::vector<std::uint32_t> room;
        const auto row = g->row(v, room);
        for (std::size_t i = 0; i < row.size(); ++i) found[{v, row[i]}] = copy->get(i);
      }
    }
    EXPECT_EQ(found, least);

    const auto plain = global_graph<>::build(k_vertices, list);
    const auto weighted = plain.weighted([](std::uint64_t v, std::uint64_t u) { return v + u; });
    EXPECT_EQ(collect(weighted.ref()), collect(plain.ref()));
    shoal::parallel_for(shoal::owners_of(weighted->degrees()), k_vertices, [g = weighted.ref()](std::uint64_t v) {
      for (std::size_t i = 0; i < g.neighbours(v).size(); ++i)
        SHOAL_ASSERT(g.weights(v)[i] == v + g.neighbours(v)[i], "the weight is that of its arc");
    });
  });
}

TEST_P(graphs, read_from_files_of_all_formats) {
  run([] {
    const auto all = shoal::graph::generate_all(shoal::graph::kronecker(9, 16, 2));
    std::string text = "# Undirected graph\n# Nodes: 512 Edges: 8192\n";
    for (const edge& e : all.list) text += std::to_string(e.from) + "\t" + std::to_string(e.to) + "\n";
    const rows expected = naive(all.list, all.vertices, {});
    const auto folder = std::filesystem::temp_directory_path() / ("shoal_graphs_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const auto write = [&](const std::string& name, const std::string& bytes) {
      std::ofstream(folder / name, std::ios::binary) << bytes;
      return (folder / name).string();
    };
    std::string market = "%%MatrixMarket matrix coordinate pattern symmetric\n512 512 8192\n";
    for (const edge& e : all.list) {
      const auto [low, high] = std::minmax(e.from, e.to);
      market += std::to_string(high + 1) + " " + std::to_string(low + 1) + "\n";
    }
    shoal::graph::write_csr_file((folder / "graph.shoalcsr").string(), all);
    for (const std::string& path :
         {write("graph.txt", text), write("dos.txt", "\n" + text + "\r\n 7  9 \r\n"), write("open.txt", text + "7 9"),
          write("graph.txt.gz", shoal::graph::test::gzip(text)), write("graph.zst", shoal::graph::test::zstd(text)),
          write("graph.mtx", market), (folder / "graph.shoalcsr").string()}) {
      const auto g = global_graph<>::read(path);
      rows found = collect(g.ref());
      found.resize(expected.size());
      if (path.ends_with("dos.txt") || path.ends_with("open.txt")) {
        auto list = all.list;
        list.push_back({7, 9});
        ASSERT_EQ(found, naive(list, all.vertices, {})) << path;
        EXPECT_EQ(g.header().remarks.size(), 1U) << path;
      } else {
        ASSERT_EQ(found, expected) << path;
        EXPECT_TRUE(g.header().remarks.empty()) << path;
        EXPECT_EQ(g.header().edges, all.edges);
      }
    }
    // Errors name the line, whichever node reads it.
    const auto bad = write("bad.txt", text + "1 x\n" + text);
    try {
      global_graph<>::read(bad);
      FAIL() << "a malformed line was accepted";
    } catch (const shoal::error& e) {
      EXPECT_EQ(e.code(), shoal::errc::bad_input);
      EXPECT_NE(std::string(e.what()).find("bad.txt:8195: "), std::string::npos) << e.what();
    }
    EXPECT_THROW(global_graph<>::read((folder / "absent.txt").string()), shoal::error);
    EXPECT_THROW((global_graph<std::uint32_t, double>::read(write("nan.txt", "0 1 2.5\n1 2 nan\n"))), shoal::error);
    EXPECT_THROW(global_graph<>::read(write("wide.txt", "0 5000000000\n" + text)), shoal::error);
    std::filesystem::remove_all(folder);
  });
}

TEST_P(graphs, edges_out_of_range_are_refused) {
  run([] {
    const std::vector<edge> list{{0, 1}, {1, 5}};
    EXPECT_THROW(global_graph<>::build(5, list), shoal::error);
    EXPECT_THROW(global_graph<>::build(std::uint64_t{1} << 33, list), shoal::error);
  });
}

}  // namespace
