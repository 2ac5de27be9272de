// SPDX-License-Identifier: Apache-2.0
// What `shoal bfs` was asked for, and the main tasks that do it on node 0.
// Who may call: the command's main thread fills it; search_as_asked and demonstrate are main tasks of a job.
// Errors: shoal::error for bad input, before anything is searched. Shown by tests/unit/tools/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/job.hpp"
#include "kernels/bfs/searcher.hpp"
#include "kernels/graph/edge.hpp"

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
  std::string directed;  // empty: as the file says, followed forward
  bool compact_ids = false;
  bool validate = true;
  std::string tree;
  std::string json;
  bool demo = false;

  int scale() const noexcept { return kronecker != 0 ? kronecker : uniform; }
  kernels::bfs::searcher_options searcher() const;
};

/// Refuses --json and --tree that cannot be written.
void check_outputs(const bfs_options& options);
/// Refuses what check_outputs does, what does not fit together, and generated graphs that are larger than the machine's
/// memory.
void check(const bfs_options& options);

/// A graph as it was asked for, with names where it has any.
struct bfs_input {
  kernels::graph::graph_header header;
  std::unique_ptr<kernels::bfs::searcher> searcher;
};
bfs_input load(const bfs_options& options);

int search_as_asked(const bfs_options& options);
/// On the graph that comes with Shoal and on a generated one, in words. `options`: the job's.
int demonstrate(const bfs_options& options);

/// What a search found, in words: reached, levels, the deepest chain.
std::string in_words(const kernels::graph::graph_header& header, const std::vector<std::uint64_t>& parents,
                     std::uint64_t root);

}  // namespace shoal::tools
