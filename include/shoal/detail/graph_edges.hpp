// SPDX-License-Identifier: Apache-2.0
// Edges in the memory of all nodes, generated or read from a file, and their checks.
// Who may call: tasks; all functions switch. Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/graph_file.hpp"
#include "shoal/error.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/graph/read.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/parts.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

[[noreturn]] void refuse_width(std::uint64_t vertices, std::size_t id_bytes);
[[noreturn]] void refuse_edge(std::uint64_t from, std::uint64_t to, std::uint64_t vertices);
[[noreturn]] void refuse_weight(const std::string& path, std::uint64_t from, std::uint64_t to);

/// One number is left for "none".
template <class Id>
constexpr bool fits_width(std::uint64_t vertices) noexcept {
  return vertices <= std::numeric_limits<Id>::max();
}
template <class Id>
void check_width(std::uint64_t vertices) {
  if (!fits_width<Id>(vertices)) refuse_width(vertices, sizeof(Id));
}

template <class Edge>
void check_edges(std::uint64_t vertices, const array_ref<Edge>& edges) {
  parallel_for(parts_of(edges), [vertices](std::uint64_t, std::span<const Edge> some) {
    const auto bad = std::ranges::find_if(some, [&](const Edge& e) { return e.from >= vertices || e.to >= vertices; });
    if (bad != some.end()) refuse_edge(bad->from, bad->to, vertices);
  });
}

inline constexpr std::uint64_t k_edges_at_once = 256;

template <class Id, class Generator>
global_array<graph::arc<Id>> generate_edges(const Generator& generator) {
  global_array<graph::arc<Id>> edges(generator.edges());
  spmd([generator, edges = edges.ref()](team&) {
    const auto mine = edges.local();
    const std::uint64_t first = edges.local_range().first;
    parallel_for(here, (mine.size() + k_edges_at_once - 1) / k_edges_at_once, [&](std::uint64_t piece) {
      std::array<graph::edge, k_edges_at_once> room;
      const std::uint64_t begin = piece * k_edges_at_once;
      const auto some = std::span(room).first(std::min<std::uint64_t>(room.size(), mine.size() - begin));
      generator.generate(first + begin, some);
      for (std::size_t i = 0; i < some.size(); ++i)
        mine[begin + i] = {static_cast<Id>(some[i].from), static_cast<Id>(some[i].to)};
    });
  });
  return edges;
}

template <class Id, class Weight = void>
struct loaded_edges {
  graph::graph_header header;
  global_array<graph::arc<Id, Weight>> edges;
};

/// A path as a value that travels.
struct sent_path {
  static constexpr std::size_t k_most_bytes = 4096;
  std::array<char, k_most_bytes> text;
};

template <class Id>
using edge_pieces = std::vector<std::vector<graph::arc<Id>>>;

/// Reads this node's part of the file into pieces, each by one worker.
template <class Id>
text_counts read_pieces(const std::string& path, const text_extent& all, std::uint32_t rank, std::uint32_t nodes,
                        edge_pieces<Id>& pieces) {
  const std::uint64_t bytes = all.end - all.begin;
  const std::uint64_t parts = std::clamp<std::uint64_t>(bytes / nodes >> 20, 1, 4 * std::uint64_t{worker_count()});
  pieces.resize(parts);
  return parallel_reduce(
      here, parts, text_counts{},
      [&](std::uint64_t i) {
        const auto bound = [&](std::uint64_t k) { return all.begin + bytes / (nodes * parts) * k; };
        const std::uint64_t k = rank * parts + i;
        const text_extent part{bound(k), k + 1 == nodes * parts ? all.end : bound(k + 1)};
        bool narrow = true;
        text_counts found = read_text_part(path, all, part, [&](std::span<const graph::edge> some) {
          for (const graph::edge& e : some) {
            narrow = narrow && fits_width<Id>(std::max(e.from, e.to) + 1);
            pieces[i].push_back({static_cast<Id>(e.from), static_cast<Id>(e.to)});
          }
        });
        found.plain = found.plain && narrow;
        return found;
      },
      [](const text_counts& a, const text_counts& b) { return a.combine(b); });
}

/// Every node reads its part; no value if the file is to be read by one reader.
template <class Id>
std::optional<loaded_edges<Id>> load_in_parts(const std::string& path, const graph::read_options& how) {
  const auto all = find_text_edges(path, how);
  if (!all || path.size() >= sent_path::k_most_bytes) return std::nullopt;
  sent_path sent{};
  std::ranges::copy(path, sent.text.begin());
  node_local<edge_pieces<Id>> pieces;
  global_array<text_counts> results(node_count());
  spmd([sent, all = *all, pieces = pieces.ref(), results = results.ref()](team& t) {
    results.local()[0] = read_pieces<Id>(sent.text.data(), all, t.rank(), t.size(), *pieces);
  });
  std::vector<text_counts> counts(node_count());
  results->get(0, std::span(counts));
  text_counts sum;
  std::vector<std::uint64_t> bounds{0};
  for (const text_counts& c : counts) {
    sum = sum.combine(c);
    bounds.push_back(sum.edges);
  }
  if (!sum.plain) return std::nullopt;
  loaded_edges<Id> loaded{finish_text(path, how, sum), {}};
  loaded.edges = global_array<graph::arc<Id>>(
      sum.edges, sum.edges == 0 ? distribution_plan(distribution::partition) : blocks_at(bounds));
  spmd([pieces = pieces.ref(), edges = loaded.edges.ref()](team&) {
    edge_pieces<Id>& mine = *pieces;
    std::vector<std::size_t> firsts(mine.size());
    for (std::size_t k = 1; k < mine.size(); ++k) firsts[k] = firsts[k - 1] + mine[k - 1].size();
    const auto to = edges.local();
    parallel_for(here, mine.size(), [&](std::size_t k) {
      std::ranges::copy(mine[k], to.begin() + static_cast<std::ptrdiff_t>(firsts[k]));
      mine[k] = {};
    });
  });
  return loaded;
}

/// Edges that one task adds, in the memory of all nodes: each array has half of what is stored, so there are few.
template <class Arc>
class growing_edges {
public:
  void add(const Arc& one) {
    room_.push_back(one);
    if (room_.size() == k_at_once) store();
  }
  global_array<Arc> take() {
    store();
    global_array<Arc> all(stored_);
    std::uint64_t at = 0;
    for (part& p : parts_) {
      if (p.used > 0) all->copy(at, p.edges.ref(), 0, p.used);
      at += p.used;
      p.edges = {};
    }
    return all;
  }

private:
  static constexpr std::size_t k_at_once = std::size_t{1} << 16;
  struct part {
    global_array<Arc> edges;
    std::uint64_t used = 0;
  };

  void store() {
    std::span<const Arc> rest(room_);
    while (!rest.empty()) {
      if (parts_.empty() || parts_.back().used == parts_.back().edges.size())
        parts_.push_back({global_array<Arc>(std::max<std::uint64_t>(k_at_once, stored_ / 2))});
      part& p = parts_.back();
      const auto now = rest.first(std::min<std::uint64_t>(rest.size(), p.edges.size() - p.used));
      p.edges->put(p.used, now);
      p.used += now.size();
      stored_ += now.size();
      rest = rest.subspan(now.size());
    }
    room_.clear();
  }

  std::vector<part> parts_;
  std::vector<Arc> room_;
  std::uint64_t stored_ = 0;
};

template <class Id, class Weight>
loaded_edges<Id, Weight> load_edges(const std::string& path, graph::read_options how) {
  using arc = graph::arc<Id, Weight>;
  growing_edges<arc> edges;
  std::vector<double> weights;  // of the edges that the sink has not got yet
  if constexpr (std::is_void_v<Weight>) {
    if (auto loaded = load_in_parts<Id>(path, how)) return std::move(*loaded);
  } else {
    how.weights = [&](double weight) { weights.push_back(weight); };
  }
  loaded_edges<Id, Weight> loaded;
  loaded.header = graph::stream_graph(path, how, [&](std::span<const graph::edge> some) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      const graph::edge& e = some[i];
      check_width<Id>(std::max(e.from, e.to) + 1);
      arc made{};
      made.from = static_cast<Id>(e.from);
      made.to = static_cast<Id>(e.to);
      if constexpr (!std::is_void_v<Weight>) {
        if (std::isnan(weights[i])) refuse_weight(path, e.from, e.to);  // it has no place in an order
        made.weight = static_cast<Weight>(weights[i]);
      }
      edges.add(made);
    }
    weights.clear();
  });
  check_width<Id>(loaded.header.vertices);
  loaded.edges = edges.take();
  return loaded;
}

}  // namespace shoal::detail
