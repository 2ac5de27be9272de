// SPDX-License-Identifier: Apache-2.0
// `shoal bfs`: searches from each root, validates the trees, and reports.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "bench/traffic.hpp"
#include "kernels/bfs/rules.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "shoal/region_mark.hpp"
#include "tools/shoal/bfs_options.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

void write_tree(const std::string& path, const graph::graph_header& header, const std::vector<std::uint64_t>& parents,
                std::uint64_t root) {
  const bfs::tree_levels tree = bfs::levels_of_tree(root, parents);
  std::FILE* out = std::fopen(path.c_str(), "w");
  bool good = out != nullptr;
  if (good) {
    fmt::print(out, "# vertex parent level; from {}; unreached vertices are omitted\n", graph::name_of(header, root));
    for (std::uint64_t v = 0; v < parents.size() && tree.fault == bfs::tree_fault::none; ++v)
      if (parents[v] != bfs::k_no_parent)
        fmt::print(out, "{} {} {}\n", graph::name_of(header, v), graph::name_of(header, parents[v]), tree.levels[v]);
    good = std::ferror(out) == 0;
    good = std::fclose(out) == 0 && good;
  }
  if (!good)
    throw error(errc::system, fmt::format("cannot write the tree to '{}'; choose a file in a writable folder", path));
}

void describe(bench::report& r, const bfs_options& o, const bfs::searcher& s) {
  r.parameter("graph", !o.file.empty()
                           ? o.file
                           : fmt::format("{} scale {}, edge factor {}", o.kronecker != 0 ? "kronecker" : "uniform",
                                         o.scale(), o.edge_factor));
  r.parameter("vertices", s.vertices());
  r.parameter("edges", s.input_edges());
  r.parameter("arcs", s.arcs());
  r.parameter("nodes", node_count());
  r.parameter("workers", worker_count());
  r.parameter("direct", o.job.direct);
  r.parameter("form", o.form);
  r.parameter("direction", o.direction);
  r.parameter("seed", o.seed);
}

}  // namespace

std::string in_words(const graph::graph_header& header, const std::vector<std::uint64_t>& parents, std::uint64_t root) {
  const bfs::tree_levels tree = bfs::levels_of_tree(root, parents);
  if (tree.fault != bfs::tree_fault::none) return "The result is not a tree.\n";
  std::uint64_t reached = 0;
  std::uint64_t deepest = root;
  std::vector<std::uint64_t> per_level;
  for (std::uint64_t v = 0; v < parents.size(); ++v) {
    if (parents[v] == bfs::k_no_parent) continue;
    ++reached;
    if (tree.levels[v] > tree.levels[deepest]) deepest = v;
    if (per_level.size() <= tree.levels[v]) per_level.resize(tree.levels[v] + 1);
    ++per_level[tree.levels[v]];
  }
  std::string text = fmt::format("{} reaches {} of {} vertices, in {} levels: {}", graph::name_of(header, root),
                                 reached, header.vertices, per_level.size() - 1, per_level[0]);
  const std::size_t shown = std::min<std::size_t>(per_level.size(), 20);
  for (std::size_t level = 1; level < shown; ++level) text += fmt::format(", {}", per_level[level]);
  text += shown < per_level.size() ? ", ...\n" : ".\n";
  if (deepest == root) return text;
  text += "The deepest chain: " + graph::name_of(header, deepest);
  std::uint64_t steps = 0;
  for (std::uint64_t v = deepest; v != root && steps < 30; ++steps) {
    v = parents[v];
    text += " -> " + graph::name_of(header, v);
  }
  return text + (steps == 30 ? " -> ...\n" : "\n");
}

int search_as_asked(const bfs_options& o) {
  check_outputs(o);  // repeated, because a job started by a launcher begins here
  bfs_input in = [&] {
    const region_mark build("build the graph");
    return load(o);
  }();
  bfs::searcher& s = *in.searcher;
  const std::vector<std::uint64_t> roots =
      o.root.empty() ? s.choose_roots(o.roots, o.seed) : std::vector{graph::find_vertex(in.header, o.root)};
  std::FILE* out = o.json == "-" ? stderr : stdout;
  bench::report r("bfs");
  describe(r, o, s);
  r.parameter("roots", roots.size());
  fmt::print(out, "{}", r.parameters_text());
  std::fflush(out);

  bench::progress bar(roots.size());
  double seconds_per_edge = 0;
  bool counted = true;
  std::string words;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    bar.show(i, "searching from " + graph::name_of(in.header, roots[i]));
    const bench::traffic_counts before = bench::traffic_so_far();
    const bfs::search_counts counts = [&] {
      const region_mark search("search");
      return s.search(roots[i]);
    }();
    const bench::traffic_counts after = bench::traffic_so_far();
    const double seconds = s.search_s();
    const std::uint64_t traversed = s.traversed();
    r.record("search_ms", "ms", seconds * 1e3);
    r.record("levels", "", static_cast<double>(counts.levels));
    if (o.form == "fast") {
      r.record("bottom_up_levels", "", static_cast<double>(counts.bottom_up));
      r.record("pairs_sent", "", static_cast<double>(counts.pairs_sent));
    }
    r.record("traversed", "edges", static_cast<double>(traversed));
    r.record("root_mteps", "MTEPS", static_cast<double>(traversed) / seconds * 1e-6);
    if (node_count() > 1) bench::record_traffic(r, before, after);
    counted = counted && traversed != 0;
    if (traversed != 0) seconds_per_edge += seconds / static_cast<double>(traversed);
    if (o.validate) {
      bar.show(i, "checking the tree from " + graph::name_of(in.header, roots[i]));
      const region_mark check("validate");
      const bfs::tree_verdict verdict = s.validate();
      std::string text = verdict.right() ? "Graph500's rules hold for the tree of every root" : verdict.message;
      if (!verdict.right()) text = fmt::format("from {}: {}", graph::name_of(in.header, roots[i]), text);
      r.check("validated", verdict.right(), text);
      if (verdict.right())
        r.check("edges_counted", verdict.traversed == traversed,
                "the number of traversed edges is the one that the validator counts");
    }
    if (i == 0 && (!o.tree.empty() || !o.root.empty())) {
      const std::vector<std::uint64_t> parents = s.parents();
      if (!o.tree.empty()) write_tree(o.tree, in.header, parents, roots[0]);
      if (!o.root.empty()) words = in_words(in.header, parents, roots[0]);
    }
  }
  bar.clear();
  // Graph500's harmonic mean. It does not exist for searches that traversed no edge.
  r.record("mteps", "MTEPS", counted ? static_cast<double>(roots.size()) / seconds_per_edge * 1e-6 : 0);
  r.record("generation_s", "s", s.generation_s());
  r.record("construction_s", "s", s.construction_s());
  bench::measuring_options end;
  end.json = o.json;
  const int status = r.finish(end);
  fmt::print(out, "{}", words);
  return status;
}

}  // namespace shoal::tools
