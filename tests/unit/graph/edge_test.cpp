// SPDX-License-Identifier: Apache-2.0
#include "shoal/graph/edge.hpp"

#include "input.hpp"

namespace shoal::graph {
namespace {

using namespace test;

graph_header named() {
  return {.vertices = 6,
          .edges = 0,
          .directed = false,
          .names = {"libc6", "libc6-dev", "zlib1g", "bash", "12", "x"},
          .remarks = {}};
}

std::string not_found(const graph_header& graph, std::string_view name) {
  return refusal([&] { find_vertex(graph, name); }, errc::not_found);
}

TEST(FindVertex, ByName) {
  EXPECT_EQ(find_vertex(named(), "zlib1g"), 2u);
  EXPECT_EQ(find_vertex(named(), "12"), 4u);
  EXPECT_EQ(find_vertex(named(), "#3"), 3u);
}

TEST(FindVertex, NearestNames) {
  EXPECT_EQ(not_found(named(), "libc7"), "no vertex is named 'libc7'; the nearest names are libc6");
  EXPECT_EQ(not_found(named(), "ZLIB1"), "no vertex is named 'ZLIB1'; the nearest names are zlib1g");
  EXPECT_EQ(not_found(named(), "libc"), "no vertex is named 'libc'; the nearest names are libc6, libc6-dev");
  EXPECT_EQ(not_found(named(), "quite different"), "no vertex is named 'quite different', and no name is similar");
  EXPECT_EQ(not_found(named(), ""), "no vertex is named '', and no name is similar");
  EXPECT_EQ(not_found(named(), "3"), "no vertex is named '3', and no name is similar");
}

TEST(FindVertex, NoMoreThanThreeOfMany) {
  graph_header graph;
  for (int i = 0; i < 1000; ++i) graph.names.push_back("package-" + std::to_string(i));
  graph.vertices = graph.names.size();
  EXPECT_EQ(not_found(graph, "packag-77"),
            "no vertex is named 'packag-77'; the nearest names are package-77, package-17, package-177");
}

TEST(FindVertex, ByNumberWhereThereAreNoNames) {
  const graph_header graph{.vertices = 10, .edges = 0, .directed = false, .names = {}, .remarks = {}};
  EXPECT_EQ(find_vertex(graph, "0"), 0u);
  EXPECT_EQ(find_vertex(graph, "#9"), 9u);
  EXPECT_EQ(not_found(graph, "10"), "no vertex '10': the graph has vertices from 0 to 9");
  EXPECT_EQ(not_found(graph, "99999999999999999999999"),
            "no vertex '99999999999999999999999': the graph has vertices from 0 to 9");
  EXPECT_EQ(not_found(graph, "libc6"), "no vertex 'libc6': the graph has no names; give a number from 0 to 9");
  EXPECT_EQ(not_found(graph, "-1"), "no vertex '-1': the graph has no names; give a number from 0 to 9");
  EXPECT_EQ(not_found(graph, ""), "no vertex '': the graph has no names; give a number from 0 to 9");
  EXPECT_EQ(not_found(graph_header{}, "0"), "no vertex '0': the graph has none");
}

TEST(NameOf, NameOrNumber) {
  EXPECT_EQ(name_of(named(), 2), "zlib1g");
  EXPECT_EQ(name_of(graph_header{}, 2), "2");
}

}  // namespace
}  // namespace shoal::graph
