// SPDX-License-Identifier: Apache-2.0
// Reads graphs from files: chooses the format by content (or name), and streams the edges to a sink in blocks or
// collects them. Formats: Matrix Market, edge lists (SNAP's, and with names), .shoalcsr; each also compressed with gzip
// or zstd.
// Who may call: any thread, on its own inputs; may block for the disk, never switches tasks.
// Guarantees: every edge is in range; a malformed input is an error that names file, line and reason. The streaming
// form may fail after it has delivered edges; the caller must then discard them. Memory is bounded only if
// memory_limit_bytes is set. Tests: tests/unit/kernels_graph/{reader,matrix_market,edge_text,csr_file}_test.cpp,
// tests/fuzz/graph_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/byte_source.hpp"
#include "kernels/graph/edge.hpp"

namespace shoal::kernels::graph {

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
};

/// Larger vertex numbers are rejected in any input.
inline constexpr std::uint64_t k_most_vertices = std::uint64_t{1} << 48;

graph_header stream_graph(const std::string& path, const read_options& options, const edge_sink& sink);
edge_list read_graph(const std::string& path, const read_options& options = {});

/// Reads bytes in memory as if they were the file `name`.
edge_list read_graph_bytes(std::string_view bytes, std::string name, const read_options& options = {});

/// One format each; `from` is already decompressed.
graph_header stream_matrix_market(byte_source& from, const read_options& options, const edge_sink& sink);
graph_header stream_edge_text(byte_source& from, const read_options& options, const edge_sink& sink);
graph_header stream_csr_file(byte_source& from, const read_options& options, const edge_sink& sink);

/// Throws for sizes that do not fit into this machine or any machine. `where` is "file" or "file:line".
void check_sizes(std::string_view where, std::uint64_t vertices, std::uint64_t edges, const read_options& options);

/// Collects edges and passes them on in blocks. The reader calls finish() at the end of a valid input.
class edge_block {
public:
  explicit edge_block(const edge_sink& sink) : sink_(sink) { block_.reserve(k_edges); }

  void add(edge e) {
    block_.push_back(e);
    if (block_.size() == k_edges) finish();
  }
  void finish() {
    if (!block_.empty()) sink_(block_);
    count_ += block_.size();
    block_.clear();
  }
  std::uint64_t count() const noexcept { return count_ + block_.size(); }

private:
  static constexpr std::size_t k_edges = std::size_t{1} << 14;
  const edge_sink& sink_;
  std::vector<edge> block_;
  std::uint64_t count_ = 0;
};

}  // namespace shoal::kernels::graph
