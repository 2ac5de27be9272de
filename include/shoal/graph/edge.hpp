// SPDX-License-Identifier: Apache-2.0
// Plain graphs, as they are read and generated: edges between vertices numbered from 0, with names if the input has
// them. An undirected graph contains each edge once, in either direction; the CSR adds the other direction.
// Who may call: any thread; never switches tasks. Test: tests/unit/graph/edge_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::graph {

struct edge {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  friend bool operator==(const edge&, const edge&) = default;
};

/// An edge as a distributed graph stores it: Id is std::uint32_t or std::uint64_t; with a weight if Weight is not void.
template <class Id, class Weight = void>
struct arc {
  Id from;
  Id to;
  Weight weight;
};
template <class Id>
struct arc<Id, void> {
  Id from;
  Id to;
};

/// How the edges of a graph are followed: from each end to the other, as they are, or from `to` to `from`.
enum class direction : std::uint8_t { both, forward, reverse };

/// The properties of a graph without its edges.
struct graph_header {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = false;
  bool weighted = false;             // edges have values in the input
  std::vector<std::string> names;    // empty, or one per vertex
  std::vector<std::string> remarks;  // irregularities of the input that are not errors; a tool should print them
};

struct edge_list : graph_header {
  std::vector<edge> list;
};

/// The vertex that a user means by `name`: a name if the graph has names, else (or as "#17") a number. Throws
/// not_found, with the nearest names, if there is none.
std::uint64_t find_vertex(const graph_header& graph, std::string_view name);

/// The name of a vertex, or its number if the graph has no names.
std::string name_of(const graph_header& graph, std::uint64_t vertex);

/// Two vertices of one name, the lower number first, if there are such.
std::optional<std::pair<std::uint64_t, std::uint64_t>> equally_named(const std::vector<std::string>& names);

}  // namespace shoal::graph
