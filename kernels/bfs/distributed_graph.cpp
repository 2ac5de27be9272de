// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/distributed_graph.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "kernels/bfs/stopwatch.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::bfs {
namespace {

constexpr std::uint64_t k_piece = 256;  // edges that are sent as one piece

/// Counts the edges of each vertex in the input.
template <class Id>
void count(const array_ref<arc<Id>>& edges, direction way, const array_ref<std::uint32_t>& degrees) {
  spmd([=](team&) {
    const auto mine = edges.local();
    parallel_for(here, mine.size(), [&](std::uint64_t i) {
      const auto [from, to] = mine[i];
      if (way != direction::reverse) degrees.async_add(from, 1);
      if (way == direction::reverse || way == direction::both) degrees.async_add(to, 1);
    });
  });
}

}  // namespace

template <class Id>
distributed_graph<Id>::distributed_graph(std::uint64_t vertices, global_array<arc<Id>> edges, double generation_s,
                                         const build_options& options)
    : generation_s_(generation_s), edges_(std::move(edges)) {
  const stopwatch watch;
  rows_ = global_graph<Id>::build(vertices, edges_.ref(),
                                  {.way = options.way, .highest_degree_first = options.way == direction::both});
  std::uint64_t block = 0;
  for (std::uint32_t n = 0; n < node_count() && vertices > 0; ++n)
    block = std::max(block, rows_->degrees().layout().local_range(n).count);
  block = (block + 63) / 64 * 64;  // one node's block may be short
  input_degrees_ = global_array<std::uint32_t>(std::max<std::uint64_t>(block, 64) * node_count());
  count<Id>(edges_, options.way, input_degrees_);
  if (!options.keep_edges) edges_ = {};
  view_ = {rows_, vertices, input_degrees_.size() / node_count(), options.way, input_degrees_, edges_};
  construction_s_ = watch.seconds();
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::generate(const graph::kronecker& generator, const build_options& options) {
  const stopwatch watch;
  auto edges = detail::generate_edges<Id>(generator);
  return distributed_graph(generator.vertices(), std::move(edges), watch.seconds(), options);
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::generate(const graph::uniform& generator, const build_options& options) {
  const stopwatch watch;
  auto edges = detail::generate_edges<Id>(generator);
  return distributed_graph(generator.vertices(), std::move(edges), watch.seconds(), options);
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::distribute(std::uint64_t vertices, std::vector<graph::edge> edges,
                                                        const build_options& options) {
  const stopwatch watch;
  global_array<arc<Id>> spread(edges.size());
  std::array<arc<Id>, k_piece> some;
  for (std::uint64_t first = 0; first < edges.size(); first += k_piece) {
    const std::uint64_t n = std::min<std::uint64_t>(k_piece, edges.size() - first);
    for (std::uint64_t i = 0; i < n; ++i)
      some[i] = {static_cast<Id>(edges[first + i].from), static_cast<Id>(edges[first + i].to)};
    spread->async_put(first, std::span<const arc<Id>>(some).first(n));
  }
  wait();
  edges = {};
  return distributed_graph(vertices, std::move(spread), watch.seconds(), options);
}

template class distributed_graph<std::uint32_t>;
template class distributed_graph<std::uint64_t>;

}  // namespace shoal::kernels::bfs
