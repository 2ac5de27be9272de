// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/anywhere.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bench/job.hpp"
#include "bench/problems/nqueens/kernel.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/anywhere.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

using problems::nqueens::board;
using problems::nqueens::counts;
using problems::nqueens::problem;
using problems::nqueens::row_counts;

// By worker, of one node.
struct placed {
  struct alignas(64) of_worker {
    counts found{};
  };
  std::vector<of_worker> by_worker = std::vector<of_worker>(worker_count());
  counts& mine() noexcept { return by_worker[worker_id()].found; }
};

struct by_future {
  board b;
  node_local_ref<placed> here;

  std::uint64_t operator()() const {
    if (b.full()) return 1;
    std::array<future<std::uint64_t>, problem::k_most> below;
    std::uint64_t solutions = 0;
    std::size_t begun = 0;
    for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
      ++here->mine().placements;
      const by_future next{b.with(free & -free), here};
      if ((free & (free - 1)) == 0)  // the last
        solutions = next();
      else
        below[begun++] = async_anywhere(next);
    }
    while (begun > 0) solutions += below[--begun].get();
    return solutions;
  }
};

struct in_group {
  board b;
  node_local_ref<placed> here;

  void operator()(anywhere_tasks& tasks) const {
    counts& mine = here->mine();
    for (board at = b;;) {
      if (at.full()) {
        ++mine.solutions;
        return;
      }
      std::uint32_t free = at.free();
      if (free == 0) return;
      ++mine.placements;
      for (; (free & (free - 1)) != 0; free &= free - 1) {
        ++mine.placements;
        tasks.run(in_group{at.with(free & -free), here});
      }
      at = at.with(free);
    }
  }
};

counts by_task_group(const board& b) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  task_group group;
  for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
    counts& mine = below.of[placements++];
    const std::uint32_t queen = free & -free;
    if (free == queen)
      mine = by_task_group(b.with(queen));
    else
      group.run([&b, &mine, queen] { mine = by_task_group(b.with(queen)); });
  }
  group.wait();
  return below.total(placements);
}

struct anywhere_options {
  measuring_options measuring;
  job_options job;
  unsigned queens = 13;
};

int run_anywhere(const anywhere_options& options) {
  report result("shoal bench anywhere: n queens by recursive tasks that move between nodes");
  result.parameter("nodes", node_count());
  result.parameter("workers", worker_count());
  result.parameter("transport", options.job.transport);
  result.parameter("queens", options.queens);
  result.begin(options.measuring);
  progress line(3 * static_cast<std::size_t>(options.measuring.repeat));
  std::size_t done = 0;
  for (int repetition = 0; repetition < options.measuring.repeat; ++repetition)
    for (const queens_form form : {queens_form::future, queens_form::group, queens_form::local}) {
      const std::string name = form == queens_form::future ? "future" : form == queens_form::group ? "group" : "local";
      line.show(done++, name);
      const queens_result one = measure_queens(form, options.queens);
      result.record(name + "_s", "s", one.seconds);
      result.record(name + "_ns_per_task", "ns", one.seconds * 1e9 / static_cast<double>(one.placements));
      if (form != queens_form::local) result.record(name + "_busiest", "", one.busiest);
      result.check("solutions", one.solutions == problem::k_solutions[options.queens], "of every run");
    }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

queens_result measure_queens(queens_form form, unsigned queens) {
  const board empty = problem(queens).empty();
  queens_result r;
  const node_local<placed> all;
  const std::uint64_t start_ns = base::now_ns();
  if (form == queens_form::future) {
    r.solutions = by_future{empty, all.ref()}();
  } else if (form == queens_form::group) {
    anywhere_group group;
    group.run(in_group{empty, all.ref()});
    group.wait();
  } else {
    const counts found = by_task_group(empty);
    r.solutions = found.solutions;
    r.placements = found.placements;
  }
  r.seconds = static_cast<double>(base::now_ns() - start_ns) * 1e-9;
  std::uint64_t most = 0;
  for (std::uint32_t n = 0; n < node_count() && form != queens_form::local; ++n) {
    const counts of_node = on(n, [all = all.ref()] {
      counts sum{};
      for (const auto& w : all->by_worker) sum.add(w.found);
      return sum;
    });
    r.placements += of_node.placements;
    r.solutions += form == queens_form::group ? of_node.solutions : 0;
    most = std::max(most, of_node.placements);
  }
  if (r.placements != 0) r.busiest = static_cast<double>(most) / static_cast<double>(r.placements);
  return r;
}

subcommand_body declare_anywhere(CLI::App& app) {
  auto options = std::make_shared<anywhere_options>();
  add_measuring_options(app, options->measuring);
  add_job_options(app, options->job);
  app.add_option("--queens", options->queens, "size of the board")
      ->check(CLI::Range(4U, problem::k_most))
      ->capture_default_str();
  return [options] {
    if (options->job.nodes == 0) options->job.nodes = 2;
    return run_as_job(options->job, [options] { return run_anywhere(*options); });
  };
}

}  // namespace shoal::bench
