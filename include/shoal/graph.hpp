// SPDX-License-Identifier: Apache-2.0
// A graph over all nodes, as compressed sparse rows; the row of a vertex lies at the vertex's owner.
//   const auto g = shoal::global_graph<>::read("web-Google.txt.gz");          or generate(...), or build(n, edges)
//   auto ranks = g.values<double>(1.0);                                       one element per vertex, at its owner
//   shoal::parallel_for(shoal::owners_of(ranks), g.vertices(), [g = g.ref(), r = ranks.ref()](std::uint64_t v) {
//     for (const std::uint32_t u : g.neighbours(v)) r.async_add(u, 1.0);      a plain span: v is local here
//   });
// Who may call: tasks. Building switches; of the handle, what is said to.
// Guarantees: the graph does not change. All nodes build concurrently; edges travel in large messages. Errors: those of
// shoal/graph/read.hpp; out_of_memory; invalid_argument if vertices do not fit into Id.
// Memory: per arc sizeof(Id) and the weight, also for duplicates that were dropped; 12 bytes per vertex. While building:
// the edges, 8 bytes per vertex more, and for highest_degree_first a byte per vertex on every node.
// Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/graph_edges.hpp"
#include "shoal/detail/graph_memory.hpp"
#include "shoal/detail/graph_rows.hpp"
#include "shoal/detail/graph_sources.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/graph/kronecker.hpp"
#include "shoal/graph/read.hpp"

namespace shoal {

/// The handle: trivially copyable, valid while the graph exists. Loops capture it; it is too large for async_at, which
/// captures degrees() or what else it needs.
template <class Id = std::uint32_t, class Weight = void>
class graph_ref {
public:
  using id_type = Id;
  using weight_type = Weight;
  using rows_type = detail::graph_rows<Id, Weight>;

  graph_ref() = default;
  explicit graph_ref(const rows_type& rows) noexcept : rows_(rows) {}

  std::uint64_t vertices() const noexcept { return rows_.vertices; }
  /// Number of entries in all rows: with edges in both directions twice as many as edges.
  std::uint64_t arcs() const noexcept { return rows_.arcs; }
  graph::direction way() const noexcept { return rows_.way; }
  std::uint32_t owner(std::uint64_t v) const noexcept { return rows_.degrees.owner(v); }
  /// The length of each row; its elements lie at the owners of the vertices: owners_of(g.degrees()), like(g.degrees()).
  array_ref<std::uint32_t> degrees() const noexcept { return rows_.degrees; }

  // --- vertices of this node; no switch ------------------------------------------------------------------------------
  /// The numbers of this node's vertices, a contiguous range.
  auto local_rows() const noexcept {
    const auto own = rows_.degrees.local_range();
    return detail::consecutive_numbers{own.first, own.first + own.count};
  }
  bool is_local(std::uint64_t v) const noexcept {
    const auto own = rows_.degrees.local_range();
    return v - own.first < own.count;
  }
  std::span<const Id> neighbours(std::uint64_t v) const noexcept { return local().neighbours(v); }
  /// The weights of the row's entries, in their order.
  auto weights(std::uint64_t v) const noexcept requires(!std::is_void_v<Weight>) { return local().weights(v); }
  /// Pointers to this node's rows, for loops that are to look for them once.
  detail::local_rows<Id, Weight> local() const noexcept { return rows_.local(); }

  // --- any vertex; may switch ----------------------------------------------------------------------------------------
  std::uint64_t degree(std::uint64_t v) const { return rows_.degrees.get(v); }
  /// Entry k of the row of any vertex, k < degree(v): two accesses.
  Id neighbour(std::uint64_t v, std::uint64_t k) const { return rows_.entry(v, k); }
  /// The neighbours of any vertex: a view of the row if its memory is mapped, else a copy of it in `room`, by one
  /// message for its place and one for all entries.
  std::span<const Id> row(std::uint64_t v, std::vector<Id>& room) const { return rows_.row(v, room); }

  const rows_type& rows() const noexcept { return rows_; }

private:
  rows_type rows_;
};

/// Which vertices a node owns, and what a row contains.
struct graph_options {
  /// Empty: forward for a file that declares its graph directed, else both.
  std::optional<graph::direction> way = {};
  bool drop_self_loops = true;
  bool drop_duplicates = true;        // of weighted edges the lightest stays
  bool highest_degree_first = false;  // order of a row; else ascending if duplicates are dropped
  bool balance_edges = false;         // nodes own about as many arcs each, instead of as many vertices each
};

/// Owns the rows; move-only.
template <class Id = std::uint32_t, class Weight = void>
class global_graph {
public:
  using ref_type = graph_ref<Id, Weight>;
  using arc_type = graph::arc<Id, Weight>;

  global_graph() = default;
  /// From a file. A plain edge list is read by all nodes, each its part, others by the calling node, and so are weights:
  /// the values of a Matrix Market file, or the third numbers of an edge list; 1 where there is none.
  static global_graph read(const std::string& path, const graph_options& options = {},
                           const graph::read_options& how = {}) {
    static_assert(std::is_void_v<Weight> || std::is_floating_point_v<Weight>,
                  "weights in files are real numbers: read a graph with weights of type double");
    auto loaded = detail::load_edges<Id, Weight>(path, how);
    graph_options with = options;
    if (!with.way) with.way = loaded.header.directed ? graph::direction::forward : graph::direction::both;
    global_graph made = build(loaded.header.vertices, loaded.edges.ref(), with);
    made.header_ = std::move(loaded.header);
    return made;
  }
  /// A generated graph (shoal/graph/kronecker.hpp): every node generates its part.
  template <class Generator>
  static global_graph generate(const Generator& generator, const graph_options& options = {}) {
    detail::check_width<Id>(generator.vertices());
    const auto edges = detail::generate_edges<Id>(generator);
    return build(generator.vertices(), edges.ref(), options);
  }
  /// From an array of edges on any nodes: elements have `from` and `to`, and `weight` if the graph is weighted. All ends
  /// are less than `vertices`, else shoal::error (bad_input).
  template <class Edge>
  static global_graph build(std::uint64_t vertices, const array_ref<Edge>& edges, const graph_options& options = {}) {
    detail::check_width<Id>(vertices);
    detail::check_edges(vertices, edges);
    const graph::direction way = options.way.value_or(graph::direction::both);
    return global_graph(vertices, edges.size(), way, detail::edge_array<Edge>{edges, way, options.drop_self_loops},
                        {.sorted = options.drop_duplicates,
                         .drop_duplicates = options.drop_duplicates,
                         .highest_degree_first = options.highest_degree_first,
                         .balance_edges = options.balance_edges});
  }
  /// From edges on this node: a vector or a span of them.
  template <std::ranges::contiguous_range Edges>
  static global_graph build(std::uint64_t vertices, const Edges& edges, const graph_options& options = {}) {
    using edge_type = std::ranges::range_value_t<Edges>;
    const std::span<const edge_type> some(edges);
    global_array<edge_type> spread(some.size());
    if (!some.empty()) spread->put(0, some);
    return build(vertices, spread.ref(), options);
  }

  /// The same graph with every arc turned round. Each vertex keeps its owner.
  global_graph transposed() const {
    return global_graph(vertices(), header_.edges, way_back(), detail::turned_rows<Id, Weight>{ref_.rows()},
                        {.owners = ref_.degrees()});
  }
  /// The same graph with other numbers: vertex v becomes labels[v], a permutation. The rows are sorted. Nodes own as many
  /// vertices each.
  global_graph relabelled(const array_ref<Id>& labels) const { return relabelled(labels, labels); }
  /// As a matrix whose rows and columns are permuted: the arc from v to u becomes that from rows[v] to columns[u]. Of
  /// arcs in both directions only one permutation of both makes sense.
  global_graph relabelled(const array_ref<Id>& rows, const array_ref<Id>& columns) const {
    const auto arcs = detail::relabelled_arcs(ref_.rows(), rows, columns);
    using source = detail::edge_array<arc_type>;
    return global_graph(vertices(), header_.edges, ref_.way(), source{arcs, graph::direction::forward, false},
                        {.sorted = true});
  }
  /// The same rows, at the same owners, with weight_of(v, u) for every arc from v to u; the function travels.
  template <class F, class To = std::invoke_result_t<const F&, std::uint64_t, std::uint64_t>>
  global_graph<Id, To> weighted(const F& weight_of) const {
    return global_graph<Id, To>(vertices(), header_.edges, ref_.way(),
                                detail::weighted_rows<Id, F>{ref_.rows(), weight_of}, {.owners = ref_.degrees()});
  }
  /// Numbers by descending degree, for relabelled(): 0 has the longest row. Vertices of one degree are in ascending order
  /// within a node; the order of nodes is not specified.
  global_array<Id> labels_by_degree() const { return detail::labels_by_degree<Id>(ref_.degrees()); }

  /// One element per vertex, at its owner, all equal.
  template <class T>
  global_array<T> values(const T& value = T{}) const {
    global_array<T> made(vertices(), like(ref_.degrees()));
    if (vertices() > 0) made->fill(value);
    return made;
  }

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }
  std::uint64_t vertices() const noexcept { return ref_.vertices(); }
  std::uint64_t arcs() const noexcept { return ref_.arcs(); }
  /// Names, direction and remarks of the input; its number of edges. On the node that made the graph.
  const graph::graph_header& header() const noexcept { return header_; }

private:
  template <class, class>
  friend class global_graph;

  template <class Source>
  global_graph(std::uint64_t vertices, std::uint64_t edges, graph::direction way, const Source& source,
               const detail::row_options& options)
      : memory_(vertices, source, options), ref_(memory_.rows(way)) {
    header_.vertices = vertices;
    header_.edges = edges;
    header_.directed = way != graph::direction::both;
  }
  graph::direction way_back() const noexcept {
    switch (ref_.way()) {
      case graph::direction::forward: return graph::direction::reverse;
      case graph::direction::reverse: return graph::direction::forward;
      case graph::direction::both: break;
    }
    return graph::direction::both;
  }

  detail::graph_memory<Id, Weight> memory_;
  ref_type ref_;
  graph::graph_header header_;
};

}  // namespace shoal
