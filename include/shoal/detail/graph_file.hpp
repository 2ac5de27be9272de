// SPDX-License-Identifier: Apache-2.0
// Plain edge lists in parts: lines of two numbers, of which each node reads those that begin in its part of the file.
// Whatever is not plain (compressed, other formats, Shoal's header, more columns, comments between edges, malformed
// lines) is read by one reader from the beginning, which also finds the error and its line.
// Who may call: tasks, which switch while the disk is busy, and threads, which it blocks.
// Test: tests/unit/graph/edge_parts_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "shoal/graph/edge.hpp"
#include "shoal/graph/read.hpp"

namespace shoal::detail {

/// Where the edges of a plain edge list begin, and the bytes of the file.
struct text_extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What the readers of parts found; combine() in any order.
struct text_counts {
  bool plain = true;
  bool ended = true;  // the last line of the file has its end
  std::uint64_t edges = 0;
  std::uint64_t vertices = 0;  // the largest number, plus one

  text_counts combine(const text_counts& other) const noexcept;
};

/// The extent of the edges if the file is to be read in parts, by what its first lines say.
std::optional<text_extent> find_text_edges(const std::string& path, const graph::read_options& options);

/// Reads the lines that begin in `part`, of a file whose edges are in `all`. Stops where it is not plain, also if the file
/// cannot be read or has another size here.
text_counts read_text_part(const std::string& path, const text_extent& all, const text_extent& part,
                           const graph::edge_sink& sink);

/// What the reader of the whole file would return, from its first lines and the counts; or its error.
graph::graph_header finish_text(const std::string& path, const graph::read_options& options, const text_counts& counts);

}  // namespace shoal::detail
