// SPDX-License-Identifier: Apache-2.0
// Reads graphs from files: chooses the format by content (or name), and streams the edges to a sink in blocks or
// collects them. Formats: Matrix Market, edge lists (SNAP's, and with names), .shoalcsr; each also compressed with gzip
// or zstd.
//   const shoal::graph::edge_list all = shoal::graph::read_graph("web-Google.txt.gz");
// To read into the memory of all nodes: shoal::global_graph (shoal/graph.hpp).
// Who may call: tasks, which switch while the disk is busy, and threads, which it blocks.
// Guarantees: every edge is in range; a malformed input is an error that names file, line and reason. The streaming
// form may fail after it has delivered edges; the caller must then discard them. Memory is bounded only if
// memory_limit_bytes is set. Tests: tests/unit/graph/{reader,matrix_market,edge_text,csr_file}_test.cpp,
// tests/fuzz/graph_fuzz.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "shoal/graph/edge.hpp"

namespace shoal::graph {

/// Called from time to time with the number of bytes of the stored file that have been read, and its size.
using progress_function = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

/// Receives edges in the order of the input. The span is valid during the call only.
using edge_sink = std::function<void(std::span<const edge>)>;

enum class file_format { matrix_market, edge_text, binary_csr };

struct read_options {
  /// Edge lists: number the ids by first appearance and keep the ids as names, instead of using id = vertex.
  bool compact_ids = false;
  /// Edge lists that do not declare a direction.
  bool directed = false;
  /// Rejects an input if its declared sizes, or its edges (as stored in edge_list), need more than this; 0: no limit.
  std::uint64_t memory_limit_bytes = 0;
  progress_function progress = {};
  /// Receives the value of each edge, in the order of the edges: 1 if it has none. Complex values are errors then.
  std::function<void(double)> weights = {};
};

/// Larger vertex numbers are rejected in any input.
inline constexpr std::uint64_t k_most_vertices = std::uint64_t{1} << 48;

graph_header stream_graph(const std::string& path, const read_options& options, const edge_sink& sink);
edge_list read_graph(const std::string& path, const read_options& options = {});

}  // namespace shoal::graph
