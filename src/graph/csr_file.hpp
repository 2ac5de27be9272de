// SPDX-License-Identifier: Apache-2.0
// The binary graph file .shoalcsr: a header of 64 bytes, the rows' offsets, the targets, the names, a checksum.
// All numbers are little endian. Header: magic "SHOALCSR", u32 version 1, u32 0x01020304 (a byte order mark), u64 flags
// (1 directed, 2 targets of 64 bits, 4 names), u64 vertices, u64 edges, u64 bytes of names, 12 zeros, u32 CRC-32 of the
// 60 bytes before. Then vertices+1 u64 offsets; edges u32 or u64 targets; names, each followed by a zero byte; u32
// CRC-32 of everything after the header. An undirected graph contains each edge once, in either row.
// Who may call: any thread; may block for the disk, never switches tasks. Writing creates a complete file or none.
// Guarantees: every byte is checked; sizes are compared with the file size before memory is allocated.
// Test: tests/unit/graph/csr_file_test.cpp. To read a stream of edges: stream_csr_file in reader.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/csr.hpp"
#include "graph/reader.hpp"
#include "shoal/graph/edge.hpp"

namespace shoal::graph {

inline constexpr std::string_view k_csr_magic = "SHOALCSR";

/// Writes the rows of the whole graph; the header supplies direction and names.
void write_csr_file(const std::string& path, const csr<std::uint32_t>& rows, const graph_header& header);
void write_csr_file(const std::string& path, const csr<std::uint64_t>& rows, const graph_header& header);

/// The same from edges, with the narrowest sufficient targets. Keeps self loops and duplicates.
void write_csr_file(const std::string& path, const edge_list& graph);

struct csr_graph : graph_header {
  csr<std::uint64_t> rows;
};

/// Reads a .shoalcsr file (also .gz, .zst) into memory unchanged.
csr_graph read_csr_file(const std::string& path, const read_options& options = {});

}  // namespace shoal::graph
