// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/dependences.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::bench {
namespace {

// The number of paths from the first tile to each tile. If a tile runs too early or not at all, all later numbers are
// wrong. The row and the column before the first are zero.
class tiles {
public:
  explicit tiles(unsigned side) : width_(side + 1), paths_(std::size_t{width_} * width_) {}

  void reset() { std::fill(paths_.begin(), paths_.end(), 0); }
  std::uint64_t& at(unsigned row, unsigned column) { return paths_[std::size_t{row + 1} * width_ + column + 1]; }
  const std::uint64_t& above(unsigned row, unsigned column) { return *(&at(row, column) - width_); }
  const std::uint64_t& left_of(unsigned row, unsigned column) { return *(&at(row, column) - 1); }
  void compute(std::uint64_t& tile) {
    const std::uint64_t* const t = &tile;
    tile = t[-static_cast<std::ptrdiff_t>(width_)] + t[-1] + (t == &at(0, 0) ? 1 : 0);
  }
  std::vector<std::uint64_t>& all() { return paths_; }

private:
  unsigned width_;
  std::vector<std::uint64_t> paths_;
};

template <class Sweep>
std::vector<double> timed(tiles& t, unsigned sweeps, bool& correct, const std::vector<std::uint64_t>& expected,
                          const Sweep& sweep) {
  std::vector<double> ns;
  sweep();  // first, with empty caches and pools
  for (unsigned i = 0; i < sweeps; ++i) {
    t.reset();
    const std::uint64_t start_ns = base::now_ns();
    sweep();
    ns.push_back(static_cast<double>(base::now_ns() - start_ns));
    correct = correct && t.all() == expected;
  }
  return ns;
}

struct dependences_options {
  measuring_options measuring;
  unsigned workers = 0;
  unsigned side = 64;
  unsigned sweeps = 200;
  std::string steal;  // empty: the setting
};

int run_dependences(const dependences_options& options) {
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  report result("shoal bench dependences: a wavefront of empty tiles");
  result.parameter("workers", workers);
  result.parameter("side", options.side);
  result.parameter("sweeps", options.sweeps);
  result.parameter("steal", chosen_steal(options.steal));
  result.begin(options.measuring);
  progress line(2 * static_cast<std::size_t>(options.measuring.repeat));
  std::size_t done = 0;
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(done++, "task_graph");
    const auto graph = measure_wavefront(dependence_form::graph, workers, options.side, options.sweeps, options.steal);
    result.record("graph_ns_per_task", "ns", graph.ns_per_task);
    result.check("paths", graph.correct, "by task_graph");
    line.show(done++, "task_flow");
    const auto flow = measure_wavefront(dependence_form::flow, workers, options.side, options.sweeps, options.steal);
    result.record("flow_ns_per_task", "ns", flow.ns_per_task);
    result.check("paths", flow.correct, "by task_flow");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

dependence_result measure_wavefront(dependence_form form, unsigned workers, unsigned side, unsigned sweeps,
                                    const std::string& steal) {
  tiles t(side);
  for (unsigned row = 0; row < side; ++row)
    for (unsigned column = 0; column < side; ++column) t.compute(t.at(row, column));
  const std::vector<std::uint64_t> expected = t.all();
  dependence_result result;
  result.correct = true;
  std::vector<double> ns;
  const auto by_graph = [&] {
    task_graph graph;
    std::vector<task_graph::handle> made;
    for (unsigned row = 0; row < side; ++row)
      for (unsigned column = 0; column < side; ++column) {
        made.push_back(graph.add([&t, tile = &t.at(row, column)] { t.compute(*tile); }));
        if (column > 0) made[made.size() - 2].precedes(made.back());
        if (row > 0) made[made.size() - 1 - side].precedes(made.back());
      }
    ns = timed(t, sweeps, result.correct, expected, [&] { graph.run(); });
  };
  const auto by_flow = [&] {
    task_flow flow;
    ns = timed(t, sweeps, result.correct, expected, [&] {
      for (unsigned row = 0; row < side; ++row)
        for (unsigned column = 0; column < side; ++column) {
          std::uint64_t& tile = t.at(row, column);
          flow.run(in(t.above(row, column)), in(t.left_of(row, column)), inout(tile), [&t, &tile] { t.compute(tile); });
        }
      flow.wait();
    });
  };
  const worker_counts counts = run_on_workers(
      workers,
      [&] {
        if (form == dependence_form::graph)
          by_graph();
        else
          by_flow();
      },
      steal);
  std::nth_element(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2), ns.end());
  result.tasks = std::uint64_t{side} * side;
  result.ns_per_task = ns.empty() ? 0 : ns[ns.size() / 2] / static_cast<double>(result.tasks);
  result.steals = counts.stolen;
  return result;
}

subcommand_body declare_dependences(CLI::App& app) {
  auto options = std::make_shared<dependences_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("-w,--workers", options->workers, "worker threads; default: one per processor")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W");
  app.add_option("--side", options->side, "tiles in a row and in a column")
      ->check(CLI::Range(1U, 4096U))
      ->capture_default_str();
  app.add_option("--sweeps", options->sweeps, "number of sweeps over all tiles in one measurement")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--steal", options->steal, "the victim policy of workers; default: the setting steal")
      ->type_name("POLICY");
  return [options] { return run_dependences(*options); };
}

}  // namespace shoal::bench
