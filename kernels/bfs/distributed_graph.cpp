// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/distributed_graph.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <span>
#include <utility>

#include "kernels/bfs/stopwatch.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::bfs {
namespace {

using graph::edge;

constexpr std::uint64_t k_piece = 256;          // edges that are generated or sent as one piece
constexpr std::uint64_t k_edges_together = 32;  // edges that are put into rows as one batch
constexpr std::uint64_t k_rows_piece = 64;      // rows that are sorted as one piece

std::uint64_t pieces(std::uint64_t count, std::uint64_t piece) { return (count + piece - 1) / piece; }

std::uint64_t block_of(std::uint64_t vertices) {
  const std::uint64_t block = pieces(std::max<std::uint64_t>(vertices, 1), node_count());
  return pieces(block, 64) * 64;
}

/// The rows that contain an edge.
bool in_row_of_from(direction way) { return way != direction::reverse; }
bool in_row_of_to(direction way) { return way != direction::forward; }

/// Counts the edges of each vertex: in its row, and in the input.
template <class Id>
void count(const array_ref<arc<Id>>& edges, direction way, const array_ref<std::uint64_t>& rows,
           const array_ref<std::uint32_t>& input_degrees) {
  spmd([=](team&) {
    const auto mine = edges.local();
    parallel_for(here, mine.size(), [&](std::uint64_t i) {
      const auto [from, to] = mine[i];
      if (from == to) {
        input_degrees.async_add(from, way == direction::both ? 2 : 1);
        return;
      }
      if (in_row_of_from(way)) rows.async_add(from, 1);
      if (in_row_of_to(way)) rows.async_add(to, 1);
    });
  });
}

/// Turns counts into offsets: each count becomes the index of the row's first element. Returns the largest number of
/// elements on any node.
template <class Id>
std::uint64_t lay_out(const graph_view<Id>& g, const array_ref<std::uint64_t>& rows) {
  global_array<std::uint64_t> most(1);
  spmd([g, rows, most = most.ref()](team&) {
    const auto cursors = rows.local();
    const auto offsets = g.offsets.local();
    const auto degrees = g.input_degrees.local();
    std::uint64_t sum = 0;
    for (std::size_t v = 0; v < cursors.size(); ++v) {
      degrees[v] += static_cast<std::uint32_t>(cursors[v]);
      offsets[v] = sum;
      sum += std::exchange(cursors[v], sum);
    }
    offsets[cursors.size()] = sum;
    most.max(0, sum);
  });
  return most->get(0);
}

/// Puts one end of an edge into the row of the other end, on the owner of that row.
template <class Id>
struct place_arc {
  symmetric_ptr<std::uint64_t> cursors;
  symmetric_ptr<Id> targets;
  Id row;
  Id target;

  void operator()() const noexcept {
    const std::uint64_t place = std::atomic_ref(cursors.get()[row]).fetch_add(1, std::memory_order_relaxed);
    targets.get()[place] = target;
  }
};

/// The same for several arcs with local rows; their cache misses overlap.
template <class Id>
class place_here {
public:
  place_here(std::span<std::uint64_t> cursors, std::span<Id> targets, std::uint64_t first)
      : cursors_(cursors), targets_(targets), first_(first) {}

  bool add(Id row, Id target) {
    const std::uint64_t own = row - first_;
    if (own >= cursors_.size()) return false;
    __builtin_prefetch(&cursors_[own], 1);
    some_[size_++] = {own, target};
    return true;
  }
  void place() {
    for (std::size_t i = 0; i < size_; ++i) {
      auto& [row, target] = some_[i];
      row = std::atomic_ref(cursors_[row]).fetch_add(1, std::memory_order_relaxed);
      __builtin_prefetch(&targets_[row], 1);
    }
    for (std::size_t i = 0; i < size_; ++i) targets_[some_[i].row] = some_[i].target;
    size_ = 0;
  }

private:
  struct entry {
    std::uint64_t row;  // later the index in targets
    Id target;
  };
  std::span<std::uint64_t> cursors_;
  std::span<Id> targets_;
  std::uint64_t first_;
  std::size_t size_ = 0;
  std::array<entry, 2 * k_edges_together> some_;
};

template <class Id>
void scatter(const graph_view<Id>& g, const array_ref<arc<Id>>& edges, const array_ref<std::uint64_t>& rows) {
  spmd([=](team& t) {
    const auto mine = edges.local();
    parallel_for(here, pieces(mine.size(), k_edges_together), [&](std::uint64_t piece) {
      place_here<Id> own(rows.local(), g.targets.local(), t.rank() * g.block);
      const auto put = [&](Id row, Id target) {
        if (own.add(row, target)) return;
        const std::uint32_t node = g.owner(row);
        async_at(node,
                 place_arc<Id>{rows.symmetric(), g.targets.symmetric(), static_cast<Id>(row - node * g.block), target});
      };
      const std::uint64_t begin = piece * k_edges_together;
      for (const auto& [from, to] : mine.subspan(begin, std::min(k_edges_together, mine.size() - begin))) {
        if (from == to) continue;
        if (in_row_of_from(g.way)) put(from, to);
        if (in_row_of_to(g.way)) put(to, from);
      }
      own.place();
    });
  });
}

/// The logarithm of the degree of every vertex, on every node.
template <class Id>
void share_classes(const graph_view<Id>& g, const array_ref<std::uint8_t>& classes) {
  spmd([=](team& t) {
    const std::uint64_t first = t.rank() * g.block;
    const auto all = classes.local();
    const auto degrees = g.input_degrees.local();
    for (std::uint64_t v = 0; v < g.block; ++v) all[first + v] = static_cast<std::uint8_t>(std::bit_width(degrees[v]));
    for (std::uint32_t n = 0; n < t.size(); ++n)
      if (n != t.rank())
        classes.async_put(n * g.slots() + first, std::span<const std::uint8_t>(all).subspan(first, g.block));
    wait();
  });
}

/// Sorts the rows, drops duplicates, and puts the neighbours of the highest class first. Returns the number of
/// remaining elements.
template <class Id>
std::uint64_t put_in_order(const graph_view<Id>& g, const array_ref<std::uint64_t>& rows,
                           const array_ref<std::uint8_t>& classes) {
  global_array<std::uint64_t> left(1);
  spmd([=, left = left.ref()](team&) {
    const auto offsets = g.offsets.local();
    const auto targets = g.targets.local();
    const auto sizes = rows.local();
    const auto class_of = classes.local();
    parallel_for(here, pieces(g.block, k_rows_piece), [&](std::uint64_t piece) {
      for (std::uint64_t v = piece * k_rows_piece; v < (piece + 1) * k_rows_piece; ++v) {
        const auto row = targets.subspan(offsets[v], offsets[v + 1] - offsets[v]);
        std::sort(row.begin(), row.end());
        const auto end = std::unique(row.begin(), row.end());
        if (!class_of.empty())
          std::stable_sort(row.begin(), end, [&](Id a, Id b) { return class_of[a] > class_of[b]; });
        sizes[v] = static_cast<std::uint64_t>(end - row.begin());
      }
    });
    std::uint64_t kept = 0;
    for (std::uint64_t v = 0; v < g.block; ++v) {
      const auto row = targets.subspan(offsets[v], sizes[v]);
      std::copy(row.begin(), row.end(), targets.begin() + static_cast<std::ptrdiff_t>(kept));
      offsets[v] = std::exchange(kept, kept + sizes[v]);
    }
    offsets[g.block] = kept;
    left.add(0, kept);
  });
  return left->get(0);
}

}  // namespace

template <class Id>
distributed_graph<Id>::distributed_graph(std::uint64_t vertices, std::uint64_t edges, const build_options& options)
    : input_edges_(edges) {
  const std::uint64_t block = block_of(vertices);
  const std::uint64_t nodes = node_count();
  offsets_ = global_array<std::uint64_t>(nodes * (block + 1));
  input_degrees_ = global_array<std::uint32_t>(nodes * block);
  edges_ = global_array<arc<Id>>(edges);
  view_ = {vertices, block, options.way, offsets_, {}, input_degrees_, edges_};
}

template <class Id>
void distributed_graph<Id>::build_rows(const build_options& options) {
  const stopwatch watch;
  {
    global_array<std::uint64_t> rows(view_.slots());
    count<Id>(edges_, options.way, rows, input_degrees_);
    const std::uint64_t most = lay_out<Id>(view_, rows);
    targets_ = global_array<Id>(std::max<std::uint64_t>(most, 1) * node_count());
    view_.targets = targets_;
    scatter<Id>(view_, edges_, rows);
    global_array<std::uint8_t> classes;
    if (options.way == direction::both) {
      classes = global_array<std::uint8_t>(node_count() * view_.slots());
      share_classes<Id>(view_, classes);
    }
    arcs_ = put_in_order<Id>(view_, rows, classes);
  }
  if (!options.keep_edges) edges_ = {};
  view_.edges = edges_;
  construction_s_ = watch.seconds();
}

template <class Id>
template <class Generator>
distributed_graph<Id> distributed_graph<Id>::generate_with(const Generator& generator, const build_options& options) {
  distributed_graph made(generator.vertices(), generator.edges(), options);
  const stopwatch watch;
  spmd([generator, edges = made.view_.edges](team&) {
    const auto mine = edges.local();
    const std::uint64_t first = edges.local_range().first;
    parallel_for(here, pieces(mine.size(), k_piece), [&](std::uint64_t piece) {
      std::array<edge, k_piece> some;
      const std::uint64_t begin = piece * k_piece;
      const std::uint64_t n = std::min(k_piece, mine.size() - begin);
      generator.generate(first + begin, std::span(some).first(n));
      for (std::uint64_t i = 0; i < n; ++i)
        mine[begin + i] = {static_cast<Id>(some[i].from), static_cast<Id>(some[i].to)};
    });
  });
  made.generation_s_ = watch.seconds();
  made.build_rows(options);
  return made;
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::generate(const graph::kronecker& generator, const build_options& options) {
  return generate_with(generator, options);
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::generate(const graph::uniform& generator, const build_options& options) {
  return generate_with(generator, options);
}

template <class Id>
distributed_graph<Id> distributed_graph<Id>::distribute(std::uint64_t vertices, std::vector<edge> edges,
                                                        const build_options& options) {
  distributed_graph made(vertices, edges.size(), options);
  const stopwatch watch;
  std::array<arc<Id>, k_piece> some;
  for (std::uint64_t first = 0; first < edges.size(); first += k_piece) {
    const std::uint64_t n = std::min<std::uint64_t>(k_piece, edges.size() - first);
    for (std::uint64_t i = 0; i < n; ++i)
      some[i] = {static_cast<Id>(edges[first + i].from), static_cast<Id>(edges[first + i].to)};
    made.edges_->async_put(first, std::span<const arc<Id>>(some).first(n));
  }
  wait();
  edges = {};
  made.generation_s_ = watch.seconds();
  made.build_rows(options);
  return made;
}

template class distributed_graph<std::uint32_t>;
template class distributed_graph<std::uint64_t>;

}  // namespace shoal::kernels::bfs
