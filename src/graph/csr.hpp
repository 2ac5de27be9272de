// SPDX-License-Identifier: Apache-2.0
// Compressed sparse rows of the vertices [first, last) of a graph: the neighbours of each vertex, in one array. It is
// built in two passes over the same edges (count, then fill). The edges may come in pieces and be generated or read
// twice, so no list of all edges is needed. For an existing list call build_csr.
// Who may call: one thread per builder; never switches tasks. Throws bad_input for an edge out of range.
// Memory: one array of targets, including duplicates, and one of offsets. Duplicates are dropped in place; only if they
// were more than half are the others copied to a shorter array.
// Misuse (different edges in the two passes) is an assertion; a checksum detects it with near certainty.
// Test: tests/unit/graph/csr_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/random.hpp"

namespace shoal::graph {

struct csr_options {
  bool symmetrise = false;  // adds each edge in the other direction, too (a self loop once)
  bool reverse = false;     // adds each edge in the other direction only; not together with symmetrise
  bool drop_self_loops = false;
  bool drop_duplicates = false;  // also sorts each row
};

template <class Target>  // std::uint32_t or std::uint64_t
struct csr {
  std::uint64_t first = 0;  // first vertex with a row here
  std::uint64_t last = 0;
  std::uint64_t vertices = 0;             // of the whole graph; targets are smaller
  std::vector<std::uint64_t> offsets{0};  // last - first + 1; row of v: [offsets[v - first], offsets[v - first + 1])
  std::vector<Target> targets;

  std::span<const Target> neighbours(std::uint64_t vertex) const noexcept {
    const std::uint64_t row = vertex - first;
    return std::span{targets}.subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
  std::uint64_t degree(std::uint64_t vertex) const noexcept {
    return offsets[vertex - first + 1] - offsets[vertex - first];
  }
  std::uint64_t bytes() const noexcept {
    return offsets.size() * sizeof(std::uint64_t) + targets.size() * sizeof(Target);
  }
};

template <class Target>
class csr_builder {
public:
  csr_builder(std::uint64_t vertices, std::uint64_t first, std::uint64_t last, const csr_options& options)
      : options_(options) {
    SHOAL_ASSERT(first <= last && last <= vertices, "the rows of a CSR lie in [0, vertices)");
    SHOAL_ASSERT(!(options.symmetrise && options.reverse), "a CSR is either symmetrised or reversed");
    if (vertices > 0 && vertices - 1 > std::numeric_limits<Target>::max()) {
      throw error(errc::invalid_argument, std::to_string(vertices) + " vertices do not fit in " +
                                              std::to_string(sizeof(Target) * 8) + " bits; use wider targets");
    }
    result_.first = first;
    result_.last = last;
    result_.vertices = vertices;
    // One element more is needed while building: element v + 2 counts row v; then element v + 1 is the index of its
    // next target, and finally the end of the row.
    result_.offsets.assign(last - first + 2, 0);
  }

  /// First pass. Ignores edges without a row here.
  void count(std::span<const edge> edges) {
    SHOAL_ASSERT(!filling_, "edges are counted before the first one is filled in");
    each_arc(edges, [&](std::uint64_t row, std::uint64_t to) {
      ++result_.offsets[row + 2];
      counted_sum_ += mix64(row ^ mix64(to));
    });
  }

  /// Second pass: the same edges, in any order.
  void fill(std::span<const edge> edges) {
    if (!filling_) begin_fill();
    each_arc(edges, [&](std::uint64_t row, std::uint64_t to) {
      const std::uint64_t place = result_.offsets[row + 1]++;
      SHOAL_ASSERT(place < result_.targets.size(), "the second pass gives the same edges as the first");
      result_.targets[place] = static_cast<Target>(to);
      counted_sum_ -= mix64(row ^ mix64(to));
    });
  }

  csr<Target> finish() {
    if (!filling_) begin_fill();
    SHOAL_ASSERT(counted_sum_ == 0, "the second pass gives the same edges as the first");
    result_.offsets.pop_back();
    if (options_.drop_duplicates) drop_duplicates();
    return std::move(result_);
  }

private:
  template <class F>
  void each_arc(std::span<const edge> edges, F&& f) {
    const std::uint64_t first = result_.first;
    const std::uint64_t rows = result_.last - first;
    for (const edge& e : edges) {
      if (e.from >= result_.vertices || e.to >= result_.vertices) refuse(e);
      const bool loop = e.from == e.to;
      if (loop && options_.drop_self_loops) continue;
      // The difference is unsigned: below `first` it is very large, so one comparison checks both bounds.
      if (!options_.reverse && e.from - first < rows) f(e.from - first, e.to);
      if ((options_.reverse || (options_.symmetrise && !loop)) && e.to - first < rows) f(e.to - first, e.from);
    }
  }

  [[noreturn]] void refuse(const edge& e) const {
    throw error(errc::bad_input, "edge " + std::to_string(e.from) + " - " + std::to_string(e.to) +
                                     " is out of range: there are " + std::to_string(result_.vertices) +
                                     " vertices, from 0");
  }

  void begin_fill() {
    for (std::size_t i = 1; i < result_.offsets.size(); ++i) result_.offsets[i] += result_.offsets[i - 1];
    result_.targets.resize(result_.offsets.back());
    filling_ = true;
  }

  void drop_duplicates() {
    auto& targets = result_.targets;
    auto kept = targets.begin();
    std::uint64_t row_begin = 0;
    for (std::size_t row = 0; row + 1 < result_.offsets.size(); ++row) {
      const auto begin = targets.begin() + static_cast<std::ptrdiff_t>(row_begin);
      const auto end = targets.begin() + static_cast<std::ptrdiff_t>(result_.offsets[row + 1]);
      row_begin = result_.offsets[row + 1];
      std::sort(begin, end);
      kept = std::copy(begin, std::unique(begin, end), kept);
      result_.offsets[row + 1] = static_cast<std::uint64_t>(kept - targets.begin());
    }
    const auto used = static_cast<std::size_t>(kept - targets.begin());
    const bool wasteful = used < targets.size() / 2;
    targets.resize(used);
    if (wasteful) targets.shrink_to_fit();
  }

  csr_options options_;
  csr<Target> result_;
  bool filling_ = false;
  std::uint64_t counted_sum_ = 0;
};

template <class Target>
csr<Target> build_csr(std::span<const edge> edges, std::uint64_t vertices, std::uint64_t first, std::uint64_t last,
                      const csr_options& options = {}) {
  csr_builder<Target> builder(vertices, first, last, options);
  builder.count(edges);
  builder.fill(edges);
  return builder.finish();
}

}  // namespace shoal::graph
