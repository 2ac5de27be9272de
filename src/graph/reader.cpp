// SPDX-License-Identifier: Apache-2.0
#include "graph/reader.hpp"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <utility>

#include "graph/csr_file.hpp"
#include "graph/input_error.hpp"
#include "graph/matrix_market.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

/// The name without .gz or .zst.
std::string_view plain_name(std::string_view name) {
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

file_format format_of(std::string_view head, const std::string& name) {
  if (head.starts_with(k_csr_magic)) return file_format::binary_csr;
  if (head.starts_with(k_matrix_market_magic)) return file_format::matrix_market;
  const std::string_view plain = plain_name(name);
  if (plain.ends_with(".shoalcsr")) {
    refuse(name, "is named .shoalcsr but does not begin like one; it is corrupt or wrongly named");
  }
  if (plain.ends_with(".mtx") || plain.ends_with(".mm")) {
    refuse(name, 1, fmt::format("a Matrix Market file begins with {}", k_matrix_market_magic));
  }
  return file_format::edge_text;
}

graph_header stream(std::unique_ptr<byte_source> source, const read_options& options, const edge_sink& sink) {
  peeked_source from(std::move(source));
  if (from.head().empty()) refuse(from.name(), "is empty; give another file");
  switch (format_of(from.head(), from.name())) {
    case file_format::matrix_market: return stream_matrix_market(from, options, sink);
    case file_format::binary_csr: return stream_csr_file(from, options, sink);
    case file_format::edge_text: break;
  }
  return stream_edge_text(from, options, sink);
}

edge_list collect(std::unique_ptr<byte_source> source, const read_options& options) {
  edge_list result;
  const std::string name = source->name();
  try {
    graph_header header = stream(std::move(source), options, [&](std::span<const edge> edges) {
      check_sizes(name, 0, result.list.size() + edges.size(), options);
      result.list.insert(result.list.end(), edges.begin(), edges.end());
    });
    static_cast<graph_header&>(result) = std::move(header);
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory,
                fmt::format("{}: no memory for more than {} edges of {} bytes; use more nodes or less of it", name,
                            result.list.size(), sizeof(edge)));
  }
  return result;
}

}  // namespace

graph_header stream_graph(const std::string& path, const read_options& options, const edge_sink& sink) {
  return stream(open_byte_source(path, options.progress), options, sink);
}

edge_list read_graph(const std::string& path, const read_options& options) {
  return collect(open_byte_source(path, options.progress), options);
}

edge_list read_graph_bytes(std::string_view bytes, std::string name, const read_options& options) {
  return collect(open_byte_source(bytes, std::move(name)), options);
}

void check_sizes(std::string_view where, std::uint64_t vertices, std::uint64_t edges, const read_options& options) {
  if (vertices > k_most_vertices) {
    refuse(where, fmt::format("{} vertices are more than any machine holds (at most {})", vertices, k_most_vertices));
  }
  if (options.memory_limit_bytes == 0) return;
  const std::uint64_t vertex_room = options.memory_limit_bytes / sizeof(std::uint64_t);
  const std::uint64_t edge_room =
      vertices > vertex_room ? 0 : (options.memory_limit_bytes - vertices * sizeof(std::uint64_t)) / sizeof(edge);
  if (vertices > vertex_room || edges > edge_room) {
    throw error(
        errc::out_of_memory,
        fmt::format(
            "{}: {} vertices and {} edges need about {:.3g} GB; there are {:.3g} GB: use more nodes or less of it",
            where, vertices, edges,
            (static_cast<double>(vertices) * sizeof(std::uint64_t) + static_cast<double>(edges) * sizeof(edge)) * 1e-9,
            static_cast<double>(options.memory_limit_bytes) * 1e-9));
  }
}

}  // namespace shoal::graph
