// SPDX-License-Identifier: Apache-2.0
// The options of `shoal bfs`, and the main tasks on node 0 that execute it.
// Who may call: the command's main thread fills the options; search_as_asked and demonstrate are main tasks of a job.
// Errors: shoal::error for bad input, before the search begins. Test: tests/unit/tools/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/job.hpp"
#include "kernels/bfs/searcher.hpp"
#include "shoal/graph/edge.hpp"

namespace shoal::tools {

struct bfs_options {
  bench::job_options job;
  std::string file;
  int kronecker = 0;
  int uniform = 0;
  std::uint64_t edge_factor = 16;
  std::uint64_t roots = 16;
  std::string root;
  std::uint64_t seed = 1;
  std::string form = "fast";
  std::string direction = "auto";
  std::string directed;  // empty: the direction that the file declares, followed forward
  bool compact_ids = false;
  bool validate = true;
  std::string tree;
  std::string json;
  bool demo = false;

  int scale() const noexcept { return kronecker != 0 ? kronecker : uniform; }
  kernels::bfs::searcher_options searcher() const;
};

/// Throws if the files of --json and --tree cannot be written.
void check_outputs(const bfs_options& options);
/// Throws if check_outputs() throws, if options contradict each other, or if a generated graph needs more than the
/// machine's memory.
void check(const bfs_options& options);

/// The requested graph, with vertex names if it has any.
struct bfs_input {
  graph::graph_header header;
  std::unique_ptr<kernels::bfs::searcher> searcher;
};
bfs_input load(const bfs_options& options);

int search_as_asked(const bfs_options& options);
/// Searches the graph that comes with Shoal and a generated graph, and prints the results. `options`: those of the job.
int demonstrate(const bfs_options& options);

/// Describes a search result: reached vertices, levels, the deepest chain.
std::string in_words(const graph::graph_header& header, const std::vector<std::uint64_t>& parents, std::uint64_t root);

}  // namespace shoal::tools
