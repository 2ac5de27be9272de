// SPDX-License-Identifier: Apache-2.0
// Valid inputs of every format as seeds for fuzzing the graph readers.
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/seeds.hpp"
#include "graph/csr_file.hpp"
#include "shoal/graph/kronecker.hpp"

namespace shoal::fuzz {
namespace {

std::string gzip(const std::string& text) {
  std::string out(compressBound(static_cast<uLong>(text.size())) + 64, '\0');
  z_stream state{};
  deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string csr_file(const graph::edge_list& list) {
  const auto path =
      std::filesystem::temp_directory_path() / ("shoal-graph-fuzz-" + std::to_string(std::random_device{}()));
  graph::write_csr_file(path.string(), list);
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  return bytes;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string matrix = "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n2 1 1.5\n3 1 -2e3\n4 4 0\n";
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n";
  const std::string complex = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 -1\n";
  const std::string snap = "# Directed graph: x\n# Nodes: 4 Edges: 3\n0\t1\n1\t2\n3\t0\n";
  const std::string named = "# shoal graph directed vertices 3 edges 2\n# shoal names\n# a\n# b\n# c d\n0 1\n2 0\n";
  graph::edge_list small = graph::generate_all(graph::kronecker(3, 2, 1));
  const std::string binary = csr_file(small);
  small.names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const std::string binary_named = csr_file(small);

  // The first byte selects the name that graph_fuzz.cpp gives to the bytes.
  std::vector<std::string> result;
  for (const std::string& text : {matrix, pattern, complex, snap, named, binary, binary_named}) {
    result.push_back(std::string(1, '\0') + text);
    result.push_back('\x80' + text);
    result.push_back('\x01' + text);
    result.push_back('\x02' + text);
    result.push_back('\x03' + gzip(text));
    result.push_back('\x04' + zstd(text));
  }
  for (const std::string& bytes : {binary, binary_named}) {
    for (int i = 0; i < 4; ++i) result.push_back('\x42' + bytes);  // checksums corrected: needs more attempts
  }
  return result;
}

}  // namespace shoal::fuzz
