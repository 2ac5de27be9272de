// SPDX-License-Identifier: Apache-2.0
// What the readers of all formats have in common; shoal/graph/read.hpp is what programs call.
// Who may call: any task or thread, on its own inputs; waits for the disk as byte_source. Tests: tests/unit/graph/{reader,matrix_market,edge_text,csr_file}_test.cpp,
// tests/fuzz/graph_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/byte_source.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/graph/read.hpp"

namespace shoal::graph {

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

}  // namespace shoal::graph
