// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/switch.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {

yield_result measure_yield(unsigned tasks, std::uint64_t rounds, profile_collector* profiling) {
  std::vector<std::uint64_t> turns(tasks);
  std::uint64_t elapsed_ns = 0;
  const auto body = [&] {
    // All tasks begin and wait at the latch before the clock starts, so only switches are timed.
    latch gate(1);
    std::atomic<std::size_t> arrived{0};  // all on one worker; partners: the tasks
    task_group group;
    for (std::uint64_t& mine : turns)
      group.run([&mine, &gate, &arrived, rounds] {
        arrived.fetch_add(1, std::memory_order_relaxed);
        gate.wait();
        for (std::uint64_t i = 0; i < rounds; ++i) {
          ++mine;
          yield();
        }
      });
    while (arrived.load(std::memory_order_relaxed) < tasks) yield();
    const std::uint64_t start_ns = base::now_ns();
    gate.count_down();
    group.wait();
    elapsed_ns = base::now_ns() - start_ns;
  };
  run_on_workers(1, body, "", profiling);
  bool correct = true;
  for (const std::uint64_t t : turns) correct = correct && t == rounds;
  return {static_cast<double>(elapsed_ns) / (static_cast<double>(rounds) * tasks), correct};
}

namespace {

constexpr unsigned k_many = 1000;

// A number of rounds that takes approximately the requested time.
std::uint64_t rounds_for(unsigned tasks, double seconds) {
  constexpr std::uint64_t k_trial_yields = 200'000;
  const std::uint64_t trial = std::max<std::uint64_t>(k_trial_yields / tasks, 1);
  const double ns = std::max(measure_yield(tasks, trial).ns_per_yield, 0.1);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(seconds * 1e9 / ns / tasks), 1);
}

struct switch_options {
  measuring_options measuring;
  profile_choice profile;
};

int run_switch(const switch_options& options) {
  const measuring_options& measuring = options.measuring;
  profile_collector profiling(options.profile);
  limits::loop_options bare;
  bare.where = limits::choose_seats(machine::topology::discover());
  bare.seconds = measuring.seconds;
  report result("shoal bench switch: yield of a task through the scheduler, and a bare stack switch");
  result.parameter("tasks_many", k_many);
  result.parameter("pinned", bare.where.one.pin);
  result.begin(measuring);
  const std::uint64_t rounds_two = rounds_for(2, measuring.seconds);
  const std::uint64_t rounds_many = rounds_for(k_many, measuring.seconds);
  progress line(3 * static_cast<std::size_t>(measuring.repeat));
  std::size_t done = 0;
  for (int round = 0; round < measuring.repeat; ++round) {
    line.show(done++, "context_ns");
    const auto context = limits::context_switch(bare);
    result.record("context_ns", "ns", context.value);
    result.check("context_rounds", context.correct, "");
    line.show(done++, "yield_ns");
    const auto two = measure_yield(2, rounds_two, &profiling);
    result.record("yield_ns", "ns", two.ns_per_yield);
    result.check("yield_turns", two.correct, "of two tasks");
    line.show(done++, "yield_1000_ns");
    const auto many = measure_yield(k_many, rounds_many, &profiling);
    result.record("yield_1000_ns", "ns", many.ns_per_yield);
    result.check("yield_turns", many.correct, "of a thousand tasks");
  }
  line.clear();
  const int status = result.finish(measuring);
  profiling.finish();
  return status;
}

}  // namespace

subcommand_body declare_switch(CLI::App& app) {
  auto options = std::make_shared<switch_options>();
  add_measuring_options(app, options->measuring);
  add_profile_options(app, options->profile);
  return [options] { return run_switch(*options); };
}

}  // namespace shoal::bench
