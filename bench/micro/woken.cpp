// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/woken.hpp"

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/movable.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

void compute(std::uint64_t ns) {
  for (const std::uint64_t end = base::now_ns() + ns; base::now_ns() < end;) continue;
}

// Seconds from the opening of the latch on. `run` adds a task to the group.
template <class Run>
double time_woken(unsigned tasks, unsigned task_us, std::atomic<unsigned>& ran, Run run) {
  latch open(1);
  std::atomic<unsigned> waiting{0};  // partners: the tasks
  task_group group;
  for (unsigned i = 0; i < tasks; ++i)
    run(group, [&open, &waiting, &ran, task_us] {
      waiting.fetch_add(1, std::memory_order_relaxed);
      open.wait();
      compute(std::uint64_t{task_us} * 1000);
      ran.fetch_add(1, std::memory_order_relaxed);
    });
  while (waiting.load(std::memory_order_relaxed) < tasks) yield();
  const std::uint64_t start_ns = base::now_ns();
  open.count_down();
  group.wait();
  return static_cast<double>(base::now_ns() - start_ns) * 1e-9;
}

struct woken_options {
  measuring_options measuring;
  unsigned workers = 0;
  unsigned tasks = 200;
  unsigned task_us = 5000;
};

int run_woken(const woken_options& options) {
  check_settings();
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  report result("shoal bench woken: tasks that are woken together and then compute");
  result.parameter("workers", workers);
  result.parameter("tasks", options.tasks);
  result.parameter("task_us", options.task_us);
  result.begin(options.measuring);
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(static_cast<std::size_t>(round), "woken");
    const woken_result r = measure_woken(workers, options.tasks, options.task_us);
    result.record("tied_s", "s", r.tied_s);
    result.record("movable_s", "s", r.movable_s);
    const unsigned most_per_worker = (options.tasks + workers - 1) / workers;
    result.record("ideal_s", "s", 1e-6 * options.task_us * most_per_worker);
    result.check("tasks_ran", r.correct, "each task once");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

woken_result measure_woken(unsigned workers, unsigned tasks, unsigned task_us) {
  woken_result result;
  std::atomic<unsigned> ran{0};  // partners: the tasks
  run_on_workers(workers, [&] {
    result.tied_s = time_woken(tasks, task_us, ran, [](task_group& g, auto body) { g.run(body); });
    result.movable_s = time_woken(tasks, task_us, ran, [](task_group& g, auto body) { g.run(movable, body); });
  });
  result.correct = ran.load(std::memory_order_relaxed) == 2 * tasks;
  return result;
}

subcommand_body declare_woken(CLI::App& app) {
  auto options = std::make_shared<woken_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("-w,--workers", options->workers, "worker threads; default: one per processor")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W");
  app.add_option("--tasks", options->tasks, "that wait and are woken")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  app.add_option("--task-us", options->task_us, "microseconds that each computes")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  return [options] { return run_woken(*options); };
}

}  // namespace shoal::bench
