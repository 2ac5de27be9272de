// SPDX-License-Identifier: Apache-2.0
// Checks the options of `shoal bfs` and makes the graph that they name.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "graph/reader.hpp"
#include "machine/memory_info.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "tools/shoal/bfs_options.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

void refuse(const std::string& message) { throw error(errc::invalid_argument, message); }

bfs::direction way_of(const std::string& directed) {
  if (directed == "reverse") return bfs::direction::reverse;
  return directed == "both" ? bfs::direction::both : bfs::direction::forward;
}

/// 2^scale vertices. Scales above 63 are clamped to 63: they are rejected as too large for the memory.
std::uint64_t saturated_power(int scale) { return std::uint64_t{1} << std::min(scale, 63); }

std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

std::uint64_t need_of(const bfs_options& o, int scale) {
  const std::uint64_t vertices = saturated_power(scale);
  const std::uint64_t nodes = std::max(o.job.nodes, 1U);
  return bfs::bytes_needed(vertices, saturated_product(vertices, o.edge_factor), nodes, o.searcher());
}

void check_fits(const bfs_options& o) {
  const auto memory = machine::memory_info();
  const std::uint64_t usable = memory.usable_bytes();
  const std::uint64_t runtime = bench::runtime_bytes(o.job);  // no vertex is served by it
  const std::uint64_t need = need_of(o, o.scale()) + runtime;
  if (need <= usable) return;
  int fits = o.scale();
  while (fits > 0 && need_of(o, fits) + runtime > usable) --fits;
  const bool limited = memory.group.limit_bytes != machine::k_no_limit;
  refuse(fmt::format(
      "a search on {} node{} in a graph of scale {} with edge factor {} needs {}{} of memory; this machine has {} in "
      "total{}, and {} "
      "is available now: {}",
      std::max(o.job.nodes, 1U), o.job.nodes > 1 ? "s" : "", o.scale(), o.edge_factor,
      need >> 63 != 0 ? "more than " : "about ", machine::describe_bytes(need),
      machine::describe_bytes(memory.total_bytes),
      limited ? fmt::format(" ({} allowed by the control group)", machine::describe_bytes(memory.group.limit_bytes))
              : "",
      machine::describe_bytes(usable),
      fits > 0 ? fmt::format("scale {} fits", fits) : "choose a smaller edge factor or fewer nodes"));
}

bfs_input read_file(const bfs_options& o, bfs::searcher_options s) {
  bench::progress bar(100);
  graph::read_options how;
  how.compact_ids = o.compact_ids;
  how.directed = !o.directed.empty();
  how.memory_limit_bytes = machine::memory_info().usable_bytes();
  how.progress = [&](std::uint64_t done, std::uint64_t total) {
    bar.show(total == 0 ? 0 : static_cast<std::size_t>(done * 100 / total), "reading " + o.file);
  };
  graph::edge_list read = graph::read_graph(o.file, how);
  bar.clear();
  for (const std::string& remark : read.remarks) fmt::print(stderr, "shoal: {}\n", remark);
  if (read.vertices == 0) throw error(errc::bad_input, o.file + ": the graph has no vertices: nothing to search");
  if (!read.directed && !o.directed.empty() && o.directed != "both")
    refuse(
        fmt::format("--directed {}: {} says that its graph is undirected; leave the option out", o.directed, o.file));
  s.build.way = read.directed ? way_of(o.directed) : bfs::direction::both;
  if (o.direction == "bottom-up" && s.build.way != bfs::direction::both)
    refuse("--direction bottom-up needs edges in both directions: --directed both");
  bench::job_options job = o.job;
  job.nodes = node_count();
  machine::require_memory(bfs::bytes_needed(read.vertices, read.edges, node_count(), s) + bench::runtime_bytes(job),
                          "the graph of " + o.file);
  bfs_input in;
  auto edges = std::move(read.list);
  in.header = std::move(read);
  // Reports an unknown root before the work begins.
  if (!o.root.empty()) graph::find_vertex(in.header, o.root);
  bar.show(100, "building the graph");
  in.searcher = make_searcher(in.header.vertices, std::move(edges), s);
  return in;
}

}  // namespace

bfs::searcher_options bfs_options::searcher() const {
  bfs::searcher_options s;
  s.form = form == "simple" ? bfs::search_form::simple : bfs::search_form::fast;
  if (direction == "top-down") s.search.steps = bfs::step_kind::top_down;
  if (direction == "bottom-up") s.search.steps = bfs::step_kind::bottom_up;
  s.build.keep_edges = validate;
  return s;
}

void check_outputs(const bfs_options& o) {
  bench::require_writable(o.json, "the result");
  bench::require_writable(o.tree, "the tree");
}

void check(const bfs_options& o) {
  check_outputs(o);
  const int inputs = (o.file.empty() ? 0 : 1) + (o.kronecker != 0 ? 1 : 0) + (o.uniform != 0 ? 1 : 0);
  if (o.demo) {
    if (inputs != 0) refuse("--demo uses its own graphs; omit the other options");
    return;
  }
  if (inputs == 0) refuse("nothing to search: give a file, or --kronecker SCALE, or --uniform SCALE");
  if (inputs > 1) refuse("give only one graph: a file, or --kronecker, or --uniform");
  if (o.form == "simple" && o.direction != "auto") refuse("--direction needs --form fast");
  if (o.file.empty()) {
    if (!o.directed.empty()) refuse("--directed needs a file; generated graphs are undirected");
    if (o.compact_ids) refuse("--compact-ids needs a file; generated graphs use all numbers");
    check_fits(o);
  }
}

bfs_input load(const bfs_options& o) {
  const bfs::searcher_options s = o.searcher();
  if (!o.file.empty()) return read_file(o, s);
  bfs_input in;
  bench::progress bar(0);
  const auto generate = [&](const auto& generator) {
    in.header.vertices = generator.vertices();
    in.header.edges = generator.edges();
    if (!o.root.empty()) graph::find_vertex(in.header, o.root);
    bar.show(0, fmt::format("generating {} edges", generator.edges()));
    in.searcher = make_searcher(generator, s);
  };
  if (o.kronecker != 0)
    generate(graph::kronecker(o.kronecker, o.edge_factor, o.seed));
  else
    generate(graph::uniform(saturated_power(o.uniform), saturated_product(saturated_power(o.uniform), o.edge_factor),
                            o.seed));
  return in;
}

}  // namespace shoal::tools
