// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/graph_input.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/job.hpp"
#include "shoal/error.hpp"

namespace shoal::tools {
namespace {

constexpr int k_largest_scale = 31;  // of 32-bit vertex numbers, one of which is left for "none"

void refuse_graph(const std::string& message) { throw error(errc::invalid_argument, message); }

}  // namespace

void add_graph_input(CLI::App& app, graph_input& in) {
  app.add_option("file", in.file, "a graph: Matrix Market, edge list (also SNAP's), .shoalcsr; .gz and .zst too");
  app.add_option("--kronecker", in.kronecker, "generate Graph500's graph of 2^SCALE vertices")
      ->type_name("SCALE")
      ->check(CLI::Range(1, k_largest_scale));
  app.add_option("--uniform", in.uniform, "generate a graph of 2^SCALE vertices with random edges")
      ->type_name("SCALE")
      ->check(CLI::Range(1, k_largest_scale));
  app.add_option("--edge-factor", in.edge_factor, "edges per vertex of a generated graph")
      ->check(CLI::Range(1, 16383))
      ->capture_default_str();
  app.add_flag("--compact-ids", in.compact_ids, "edge lists: number the (numeric) ids in order of appearance");
}

void check_graph_input(const graph_input& in, const kernel_options& options, double bytes_per_arc,
                       double bytes_per_vertex) {
  const int inputs = (in.file.empty() ? 0 : 1) + (in.kronecker != 0 ? 1 : 0) + (in.uniform != 0 ? 1 : 0);
  if (inputs == 0) refuse_graph("there is no graph: give a file, or --kronecker SCALE, or --uniform SCALE");
  if (inputs > 1) refuse_graph("give only one graph: a file, or --kronecker, or --uniform");
  if (!in.file.empty() || runtime::is_launched()) return;
  if (in.compact_ids) refuse_graph("--compact-ids needs a file; generated graphs use all numbers");
  const auto vertices = static_cast<double>(std::uint64_t{1} << in.scale());
  const double edges = vertices * static_cast<double>(in.edge_factor);
  // The edges, their rows in both directions, and what building needs.
  const double bytes = edges * (8 + 8 + 2 * bytes_per_arc) + vertices * (24 + bytes_per_vertex);
  require_kernel_memory(options, static_cast<std::uint64_t>(bytes),
                        fmt::format("a graph of scale {} with edge factor {}", in.scale(), in.edge_factor));
}

global_graph<> make_graph(const graph_input& in, std::uint64_t seed, const graph_options& options) {
  if (in.kronecker != 0) return global_graph<>::generate(graph::kronecker(in.kronecker, in.edge_factor, seed), options);
  if (in.uniform != 0) {
    const std::uint64_t vertices = std::uint64_t{1} << in.uniform;
    return global_graph<>::generate(graph::uniform(vertices, vertices * in.edge_factor, seed), options);
  }
  auto g = global_graph<>::read(in.file, options, {.compact_ids = in.compact_ids});
  for (const std::string& remark : g.header().remarks) fmt::print(stderr, "shoal: {}\n", remark);
  if (g.vertices() == 0) throw error(errc::bad_input, in.file + ": the graph has no vertices: nothing to do");
  return g;
}

void describe_graph(bench::report& r, const graph_input& in, const graph::graph_header& header, std::uint64_t arcs) {
  r.parameter("graph", !in.file.empty()
                           ? in.file
                           : fmt::format("{} scale {}, edge factor {}", in.kronecker != 0 ? "kronecker" : "uniform",
                                         in.scale(), in.edge_factor));
  r.parameter("vertices", header.vertices);
  r.parameter("edges", header.edges);
  r.parameter("arcs", arcs);
}

}  // namespace shoal::tools
