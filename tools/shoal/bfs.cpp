// SPDX-License-Identifier: Apache-2.0
// `shoal bfs`: breadth-first search of a graph from a file or a generator, validated and measured by Graph500's rules.
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <limits>
#include <memory>

#include "machine/topology.hpp"
#include "runtime/job.hpp"
#include "tools/shoal/bfs_options.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

/// CLI::Range over all 64-bit numbers would accept -1, and would replace too large values by the largest one.
std::string is_seed(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  if (!text.empty() && text.front() >= '0' && text.front() <= '9')
    static_cast<void>(std::strtoull(text.c_str(), &end, 0));
  if (end != nullptr && *end == '\0' && errno == 0) return {};
  return fmt::format("Value {} not in range 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
}

void add_options(CLI::App& app, bfs_options& o) {
  app.add_option("file", o.file, "a graph: Matrix Market, edge list (also SNAP's), .shoalcsr; .gz and .zst too");
  app.add_option("--kronecker", o.kronecker, "generate Graph500's graph of 2^SCALE vertices")
      ->type_name("SCALE")
      ->check(CLI::Range(1, 1000));
  app.add_option("--uniform", o.uniform, "generate a graph of 2^SCALE vertices with random edges")
      ->type_name("SCALE")
      ->check(CLI::Range(1, 1000));
  app.add_option("--edge-factor", o.edge_factor, "edges per vertex of a generated graph")
      ->check(CLI::Range(1, 16383))
      ->capture_default_str();
  app.add_option("--roots", o.roots, "search from this many vertices")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--root", o.root,
                 "search from this vertex: its name, or its number from 0, also in Matrix Market files (#17 where "
                 "vertices have names)");
  app.add_option("--seed", o.seed, "for the generator and the choice of roots")
      ->check(is_seed, "UINT in [0 - 2^64 - 1]")
      ->capture_default_str();
  app.add_option("--form", o.form, "fast, or simple (the short textbook form)")
      ->check(CLI::IsMember({"fast", "simple"}))
      ->capture_default_str();
  app.add_option("--direction", o.direction, "direction of the steps of the fast form: auto, top-down or bottom-up")
      ->check(CLI::IsMember({"auto", "top-down", "bottom-up"}))
      ->capture_default_str();
  app.add_option(
         "--directed", o.directed,
         "how to follow the edges of a directed file: forward, reverse or both (default: forward); an edge list "
         "without a declared direction counts as directed only with this option")
      ->check(CLI::IsMember({"forward", "reverse", "both"}));
  app.add_flag("--compact-ids", o.compact_ids,
               "edge lists: number the (numeric) ids in order of appearance, and keep them as names");
  app.add_option("--tree", o.tree, "write the first root's tree: lines of vertex, parent, level")->type_name("FILE");
  app.add_flag("--validate,!--no-validate", o.validate, "check every tree by Graph500's rules (default: yes)");
  app.add_option("--json", o.json, "write the result as one JSON object to FILE, or - for standard output")
      ->type_name("FILE");
  app.add_flag("--demo", o.demo, "search the graph that comes with Shoal, then a generated one, and print the results");
  bench::add_job_options(app, o.job);
}

int run_demo(const bfs_options& o) {
  const auto job = [&](unsigned nodes, unsigned workers) {
    bfs_options one = o;
    if (!runtime::is_launched()) {
      one.job.nodes = nodes;
      one.job.workers = workers;
    }
    return bench::run_as_job(one.job, [&one] { return demonstrate(one); });
  };
  const bool chosen = o.job.nodes != 0 || o.job.workers != 0;
  if (runtime::is_launched() || chosen) return job(o.job.nodes, o.job.workers);
  // First all processors in one node, then two nodes if each can have a processor. The first job runs in its own
  // thread, because a job pins that thread as its worker, and processes started later would inherit the pinning.
  const int status = std::async(std::launch::async, [&] { return job(1, 0); }).get();
  return status == 0 && machine::topology::discover().usable_processors() >= 2 ? job(2, 0) : status;
}

}  // namespace

subcommand_body declare_bfs(CLI::App& app) {
  constexpr std::uint64_t k_waiting_bytes = std::uint64_t{16} << 20;  // per worker: thousands of stacks
  auto o = std::make_shared<bfs_options>();
  o->job.waiting_bytes = k_waiting_bytes;
  add_options(app, *o);
  return [o] {
    if (!runtime::is_launched()) check(*o);
    if (o->demo) return run_demo(*o);
    return bench::run_as_job(o->job, [o] { return search_as_asked(*o); });
  };
}

}  // namespace shoal::tools
