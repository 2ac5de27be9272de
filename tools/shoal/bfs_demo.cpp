// SPDX-License-Identifier: Apache-2.0
// `shoal bfs --demo`, the last step of `./dev run`: finds the packages that need libc6, and searches a generated graph.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "bench/progress.hpp"
#include "kernels/bfs/rules.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "tools/shoal/bfs_options.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

constexpr const char* k_graph = "debian-bookworm.txt.zst";
constexpr const char* k_root = "libc6";
constexpr int k_scale = 18;
constexpr std::uint64_t k_roots = 4;

/// Looks in the source tree and beside an installed command.
std::string find_graph() {
  const std::filesystem::path source = std::filesystem::path(SHOAL_SOURCE_DIR) / "data" / k_graph;
  std::error_code ignored;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = command.parent_path().parent_path() / "share" / "shoal" / k_graph;
  for (const auto& path : {installed, source})
    if (std::filesystem::is_regular_file(path, ignored)) return path.string();
  throw error(errc::not_found, fmt::format("the demonstration graph is missing: neither {} nor {} exists; get it "
                                           "from the repository, or search your own graph: shoal bfs FILE",
                                           source.string(), installed.string()));
}

std::string verdict_text(const bfs::tree_verdict& verdict) {
  return verdict.right() ? "validated" : "WRONG: " + verdict.message;
}

bool show_packages(const bfs_options& job) {
  bfs_options o = job;
  o.file = find_graph();
  o.root = k_root;
  o.directed = "reverse";
  const bfs_input in = load(o);
  bfs::searcher& s = *in.searcher;
  const std::uint64_t root = graph::find_vertex(in.header, k_root);
  s.search(root);  // the first search touches the memory
  s.search(root);
  const double ms = s.search_s() * 1e3;
  const bfs::tree_verdict verdict = s.validate();
  const std::vector<std::uint64_t> parents = s.parents();
  const auto direct = std::count(parents.begin(), parents.end(), root) - 1;
  fmt::print("Debian's packages: {} packages with {} dependences. Which packages need {}?\n", s.vertices(),
             s.input_edges(), k_root);
  fmt::print("{} packages, {} of them directly. Found in {:.2f} ms; the tree is {}.\n", verdict.reached - 1, direct, ms,
             verdict_text(verdict));
  fmt::print("{}\n", in_words(in.header, parents, root));
  return verdict.right();
}

bool show_kronecker(const bfs_options& job) {
  bfs_options o = job;
  o.kronecker = k_scale;
  const bfs_input in = load(o);
  bfs::searcher& s = *in.searcher;
  fmt::print("A Kronecker graph (Graph500) of scale {}: {} vertices, {} edges, built in {:.2f} s.\n", k_scale,
             s.vertices(), s.input_edges(), s.generation_s() + s.construction_s());
  fmt::print("  {:>9}  {:>9}  {:>6}  {:>8}  {:>8}\n", "root", "reached", "levels", "ms", "MTEPS");
  const std::vector<std::uint64_t> roots = s.choose_roots(k_roots, o.seed);
  bench::progress bar(roots.size());
  double seconds_per_edge = 0;
  bool right = true;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    bar.show(i, fmt::format("searching from {}", roots[i]));
    const std::uint64_t levels = s.search(roots[i]).levels;
    const double seconds = s.search_s();
    bar.show(i, fmt::format("checking the tree from {}", roots[i]));
    const bfs::tree_verdict verdict = s.validate();
    bar.clear();
    const auto edges = static_cast<double>(std::max<std::uint64_t>(verdict.traversed, 1));
    fmt::print("  {:>9}  {:>9}  {:>6}  {:>8.2f}  {:>8.1f}  {}\n", roots[i], verdict.reached, levels, seconds * 1e3,
               edges / seconds * 1e-6, verdict_text(verdict));
    std::fflush(stdout);
    right = right && verdict.right();
    seconds_per_edge += seconds / edges;
  }
  fmt::print("  harmonic mean: {:.1f} million traversed edges per second\n\n",
             static_cast<double>(roots.size()) / seconds_per_edge * 1e-6);
  std::fflush(stdout);
  return right;
}

}  // namespace

int demonstrate(const bfs_options& job) {
  fmt::print("== {} node{} with {} worker{}{}\n\n", node_count(), node_count() == 1 ? "" : "s", worker_count(),
             worker_count() == 1 ? "" : "s", node_count() == 1 ? "" : " each, processes of this machine");
  const bool packages = show_packages(job);
  const bool kronecker = show_kronecker(job);
  return packages && kronecker ? 0 : 1;
}

}  // namespace shoal::tools
