// SPDX-License-Identifier: Apache-2.0
// A random graph with a skewed distribution of degrees, as compressed sparse rows of in-neighbours or of neighbours, for
// the problems on graphs. Edges are drawn from the recursive matrix of Graph500 (A=0.57 B=0.19 C=0.19), with the numbers
// of vertices scrambled; they are the same on every machine. Who may call: one thread.
// Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining" (2004).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace problems {

struct random_edge {
  std::uint32_t from;
  std::uint32_t to;
};

inline std::uint64_t scrambled(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// 16 edges per vertex of 2^scale vertices, without loops. Throws std::invalid_argument for other scales than 4 to 26.
inline std::vector<random_edge> random_edges(std::uint64_t scale) {
  if (scale < 4 || scale > 26) throw std::invalid_argument("the size is the binary logarithm of the vertices, 4 to 26");
  std::vector<random_edge> edges;
  edges.reserve(std::size_t{16} << scale);
  const std::uint32_t mask = (std::uint32_t{1} << scale) - 1;
  // Odd factors and shifts: a bijection of the numbers of vertices.
  const auto renamed = [mask, scale](std::uint32_t v) {
    v = (v * 0x9e3779b1u) & mask;
    v ^= v >> (scale / 2);
    return (v * 0x85ebca6bu) & mask;
  };
  for (std::uint64_t k = 0; edges.size() < edges.capacity(); ++k) {
    random_edge e{0, 0};
    for (std::uint64_t level = 0; level < scale; ++level) {
      const std::uint64_t drawn = scrambled((k << 5) + level + 1) % 100;
      const bool right = drawn >= 57 && (drawn < 76 || drawn >= 95);
      const bool down = drawn >= 76;
      e.from = 2 * e.from + (down ? 1 : 0);
      e.to = 2 * e.to + (right ? 1 : 0);
    }
    if (e.from != e.to) edges.push_back({renamed(e.from), renamed(e.to)});
  }
  return edges;
}

/// Rows: those of `target(e)` contain `entry(e)`.
struct rows_of_edges {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> entries;

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t v) const noexcept {
    return {entries.data() + offsets[v], static_cast<std::size_t>(offsets[v + 1] - offsets[v])};
  }
};

/// In-neighbours; with `both` also out-neighbours.
inline rows_of_edges in_rows(const std::vector<random_edge>& edges, std::size_t vertices, bool both) {
  rows_of_edges rows;
  rows.offsets.assign(vertices + 1, 0);
  for (const random_edge& e : edges) {
    ++rows.offsets[e.to + 1];
    if (both) ++rows.offsets[e.from + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) rows.offsets[v + 1] += rows.offsets[v];
  rows.entries.resize(rows.offsets[vertices]);
  std::vector<std::uint64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  for (const random_edge& e : edges) {
    rows.entries[next[e.to]++] = e.from;
    if (both) rows.entries[next[e.from]++] = e.to;
  }
  for (std::size_t v = 0; v < vertices; ++v)
    std::sort(rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v]),
              rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v + 1]));
  return rows;
}

}  // namespace problems
