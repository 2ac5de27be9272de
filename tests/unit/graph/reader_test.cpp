// SPDX-License-Identifier: Apache-2.0
#include "graph/reader.hpp"

#include "input.hpp"

namespace shoal::graph {
namespace {

using namespace test;

TEST(Reader, ReadsFilesOfEveryKind) {
  const std::string text = "# shoal graph directed vertices 3 edges 2\n0 1\n1 2\n";
  const scratch_file plain("a.txt", text);
  EXPECT_EQ(read_graph(plain.path()).list, (edges{{0, 1}, {1, 2}}));
  const scratch_file packed("b.txt.zst", zstd(text));
  EXPECT_EQ(read_graph(packed.path()).list, (edges{{0, 1}, {1, 2}}));
  const scratch_file matrix("c.mtx.gz", gzip("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n3 1\n"));
  EXPECT_EQ(read_graph(matrix.path()).list, (edges{{2, 0}}));
}

TEST(Reader, RefusalsNameTheFile) {
  const scratch_file bad("bad.txt", "0 1\n1 x\n");
  EXPECT_EQ(refusal([&] { read_graph(bad.path()); }), bad.path() + ":2: the second vertex is not a whole number: 'x'");
  EXPECT_EQ(refusal([&] { read_graph(bad.path() + "?"); }, errc::not_found),
            bad.path() + "?: cannot be opened: No such file or directory; check the path");
}

TEST(Reader, StreamsInBlocksAndInOrder) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  const scratch_file file("a.txt.gz", gzip(text));
  std::uint64_t next = 0;
  int blocks = 0;
  std::uint64_t told = 0;
  const read_options options{.progress = [&](std::uint64_t done, std::uint64_t) { told = done; }};
  const graph_header header = stream_graph(file.path(), options, [&](std::span<const edge> part) {
    ++blocks;
    for (const edge& e : part) {
      ASSERT_EQ(e, (edge{next, next + 1}));
      ++next;
    }
  });
  EXPECT_EQ(header.vertices, 50'001u);
  EXPECT_EQ(header.edges, 50'000u);
  EXPECT_EQ(next, 50'000u);
  EXPECT_GT(blocks, 1);
  EXPECT_EQ(told, file.content().size());
}

TEST(Reader, ASinkThatThrowsStopsIt) {
  const scratch_file file("a.txt", "0 1\n");
  EXPECT_THROW(stream_graph(file.path(), {}, [](std::span<const edge>) { throw std::runtime_error("no"); }),
               std::runtime_error);
}

TEST(Reader, SizesAgainstMemory) {
  const read_options options{.memory_limit_bytes = 1000};
  EXPECT_NO_THROW(check_sizes("a", 125, 0, options));
  EXPECT_NO_THROW(check_sizes("a", 5, 60, options));
  EXPECT_THROW(check_sizes("a", 126, 0, options), error);
  EXPECT_THROW(check_sizes("a", 5, 61, options), error);
  EXPECT_THROW(check_sizes("a", 5, ~std::uint64_t{0}, options), error);
  EXPECT_NO_THROW(check_sizes("a", k_most_vertices, ~std::uint64_t{0}, {}));
  EXPECT_THROW(check_sizes("a", k_most_vertices + 1, 0, {}), error);
}

/// The graph that is shipped: its names, its sizes, and two facts that anyone can check with apt.
TEST(Reader, TheShippedGraph) {
  const edge_list graph = read_graph(SHOAL_SOURCE_DIR "/data/debian-bookworm.txt.zst");
  EXPECT_EQ(graph.vertices, 63436u);
  EXPECT_EQ(graph.list.size(), 275492u);
  EXPECT_TRUE(graph.directed);
  const auto depends = [&](std::string_view from, std::string_view to) {
    return std::find(graph.list.begin(), graph.list.end(), edge{find_vertex(graph, from), find_vertex(graph, to)}) !=
           graph.list.end();
  };
  EXPECT_TRUE(depends("bash", "libc6"));
  EXPECT_TRUE(depends("bash", "base-files"));
  EXPECT_FALSE(depends("libc6", "bash"));
}

}  // namespace
}  // namespace shoal::graph
