// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

namespace shoal::graph {
namespace {

using namespace test;

TEST(EdgeText, AsSnapWritesIt) {
  const edge_list graph = read_text(
      "# Directed graph (each unordered pair of nodes is saved once): Wiki-Vote.txt \n# Wikipedia voting\n"
      "# Nodes: 4 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\r\n0\t3\n2\t0\n",
      "wiki.txt");
  EXPECT_EQ(graph.list, (edges{{0, 1}, {0, 3}, {2, 0}}));
  EXPECT_EQ(graph.vertices, 4u);
  EXPECT_TRUE(graph.directed);
  EXPECT_TRUE(graph.remarks.empty());
  EXPECT_FALSE(read_text("# Undirected graph: ../x.txt\n0 1\n", "a").directed);
}

TEST(EdgeText, DirectionIsTheCallersWhereTheFileIsSilent) {
  EXPECT_FALSE(read_text("0 1\n", "a").directed);
  EXPECT_TRUE(read_text("0 1\n", "a", {.directed = true}).directed);
}

TEST(EdgeText, WeightsAndTimesAreDropped) {
  EXPECT_EQ(read_text("% asym weighted\n1 2 0.5\n2 3 -1 1082040961\n", "out.x").list, (edges{{1, 2}, {2, 3}}));
}

TEST(EdgeText, IdsAreKeptOrCompacted) {
  const std::string text = "900000000000 7\n7 12\n12 900000000000\n18446744073709551615 7\n";
  const edge_list graph = read_text(text, "a", {.compact_ids = true});
  EXPECT_EQ(graph.list, (edges{{0, 1}, {1, 2}, {2, 0}, {3, 1}}));
  EXPECT_EQ(graph.vertices, 4u);
  EXPECT_EQ(graph.names, (std::vector<std::string>{"900000000000", "7", "12", "18446744073709551615"}));
  EXPECT_EQ(find_vertex(graph, "12"), 2u);
  EXPECT_EQ(
      refused(text, "a"),
      "a:4: vertex 18446744073709551615 is too large to be kept as it is; number the ids anew with --compact-ids");
  EXPECT_EQ(
      refused(text.substr(0, text.find("18446")), "a"),
      "a: the largest vertex is 900000000000, for 3 edges; such ids cannot be kept as they are: number them anew with "
      "--compact-ids");
  EXPECT_EQ(read_text("0 1000\n", "a").vertices, 1001u);
}

TEST(EdgeText, OwnHeaderAndNames) {
  const std::string text =
      "# shoal graph directed vertices 3 edges 2\n# made by hand\n# shoal names\n# libc6\n# zlib1g\n# a b\n1 0\n2 1\n";
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    const edge_list graph = read_text(bytes, "a");
    EXPECT_EQ(graph.list, (edges{{1, 0}, {2, 1}}));
    EXPECT_EQ(graph.vertices, 3u);
    EXPECT_EQ(graph.edges, 2u);
    EXPECT_TRUE(graph.directed);
    EXPECT_EQ(graph.names, (std::vector<std::string>{"libc6", "zlib1g", "a b"}));
  }
  EXPECT_EQ(read_text("# shoal graph undirected vertices 9 edges 1\n0 1\n", "a").vertices, 9u);
  EXPECT_EQ(read_text("# shoal graph undirected vertices 9 edges 0\n", "a").list, edges{});
}

TEST(EdgeText, LargerThanABlock) {
  std::string text;
  edges expected;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    expected.push_back({i, i * 7919 % 100'003});
    text += std::to_string(expected.back().from) + "\t" + std::to_string(expected.back().to) + "\n";
  }
  EXPECT_EQ(read_text(text, "a").list, expected);
  EXPECT_EQ(read_text(zstd(text), "a.zst").list, expected);
}

struct bad {
  const char* text;
  const char* message;
};

TEST(EdgeText, BadLines) {
  for (const bad b : {
           bad{"0 1\n0\n", "a:2: the second vertex is missing"},
           bad{"0 1\nfoo bar\n", "a:2: the first vertex is not a whole number: 'foo'"},
           bad{"0 1\n1 -2\n", "a:2: the second vertex is negative: '-2'"},
           bad{"0,1\n", "a:1: the first vertex is not a whole number: '0,1'"},
           bad{"0 18446744073709551616\n", "a:1: the second vertex does not fit in 64 bits: '18446744073709551616'"},
           bad{"0 1 x\n", "a:1: the value after the edge is not a number: 'x'"},
           bad{"0 1 2 3 4\n", "a:1: '4' follows the edge; nothing should"},
           bad{"# only\n\n% comments\n", "a: contains no edge, only comments and empty lines"},
           bad{"\x7f"
               "ELF\x02\x01\x01",
               "a:1: the first vertex is not a whole number: '\\x7fELF\\x02\\x01\\x01'"},
       }) {
    EXPECT_EQ(refused(b.text, "a"), b.message);
  }
  EXPECT_EQ(refused("", "a"), "a: is empty; give another file");
  EXPECT_EQ(refused(gzip(""), "a.gz"), "a.gz: is empty; give another file");
}

TEST(EdgeText, BadHeaders) {
  for (const bad b : {
           bad{"# shoal graph\n", "a:1: the direction (directed or undirected) is missing"},
           bad{"# shoal graph up vertices 1 edges 0\n",
               "a:1: the direction 'up' is not known; it must be directed or undirected"},
           bad{"# shoal graph directed edges 0\n", "a:1: 'edges' stands where 'vertices' was expected"},
           bad{"# shoal graph directed vertices 2\n", "a:1: the word 'edges' is missing"},
           bad{"# shoal graph directed vertices -2 edges 0\n", "a:1: the number of vertices is negative: '-2'"},
           bad{"# shoal graph directed vertices 2 edges 1 x\n", "a:1: 'x' follows the header; nothing should"},
           bad{"# shoal graph directed vertices 2 edges 1000\n0 1\n",
               "a:1: 1000 edges are announced; a file of 49 bytes cannot hold them: it is truncated or the number is "
               "wrong"},
           bad{"# shoal graph directed vertices 281474976710657 edges 1\n0 1\n",
               "a:1: 281474976710657 vertices are more than any machine holds (at most 281474976710656)"},
           bad{"# shoal graph directed vertices 2 edges 0\n# shoal graph directed vertices 2 edges 0\n",
               "a:2: a second header; one is enough"},
           bad{"0 1\n# shoal graph directed vertices 2 edges 0\n",
               "a:2: the header comes after edges; it must come first"},
           bad{"# shoal graph directed vertices 2 edges 2\n0 1\n",
               "a: is truncated: 2 edges are announced, it ends after 1"},
           bad{"# shoal graph directed vertices 2 edges 1\n0 1\n1 0\n", "a:3: an edge more than the 1 announced"},
           bad{"# shoal graph directed vertices 2 edges 1\n0 2\n",
               "a:2: vertex 2 is out of range: the header allows 0 to 1"},
           bad{"# shoal graph directed vertices 0 edges 1\n0 0\n",
               "a:2: vertex 0 is out of range: the header says there are none"},
       }) {
    EXPECT_EQ(refused(b.text, "a"), b.message);
  }
}

TEST(EdgeText, BadNames) {
  const std::string head = "# shoal graph directed vertices 3 edges 1\n";
  EXPECT_EQ(refused("# shoal names\n# a\n", "a"),
            "a:1: names without a header before them; '# shoal graph ...' must come first");
  EXPECT_EQ(refused(head + "# shoal names\n# a\n# b\n", "a"),
            "a: is truncated: 3 names are announced, it ends after 2");
  EXPECT_EQ(refused(head + "# shoal names\n# a\n# b\n0 1\n", "a"),
            "a:5: the name of vertex 2 is missing; a line '# NAME' was expected");
  EXPECT_EQ(refused(head + "# shoal names\n# a\n# \n# b\n0 1\n", "a"),
            "a:4: the name of vertex 1 is missing; a line '# NAME' was expected");
  EXPECT_EQ(refused(head + "# shoal names\n# a\n# b\n# a\n0 1\n", "a"),
            "a:5: the name 'a' is already that of vertex 0");
  EXPECT_EQ(refused(head + "# shoal names\n# a\n# b\n# c\n# shoal names\n", "a"),
            "a:6: names a second time; one table is enough");
  EXPECT_EQ(refused(head + "# shoal names x\n", "a"), "a:2: 'x' follows 'shoal names'; nothing should");
}

TEST(EdgeText, CutShort) {
  const std::string text = "# Nodes: 3 Edges: 3\n0 1\n1 2\n2 10\n";
  EXPECT_EQ(refused(text.substr(0, text.size() - 6), "a"),
            "a: is truncated: 3 edges are announced, it ends in the middle of a line after 2");
  // Whole lines are missing: SNAP's counts alone are no proof.
  EXPECT_EQ(read_text(text.substr(0, text.size() - 5), "a").remarks,
            (std::vector<std::string>{"a: 3 edges are announced, there are 2"}));
  EXPECT_EQ(read_text(text.substr(0, text.size() - 2), "a").remarks,
            (std::vector<std::string>{"a: the last line has no end; the file may be truncated"}));
}

TEST(EdgeText, MemoryLimit) {
  EXPECT_EQ(refused("0 1\n1 2\n2 3\n", "a", {.memory_limit_bytes = 40}, errc::out_of_memory),
            "a: 4 vertices and 3 edges need about 8e-08 GB; there are 4e-08 GB: use more nodes or less of it");
}

}  // namespace
}  // namespace shoal::graph
