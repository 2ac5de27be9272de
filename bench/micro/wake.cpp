// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/wake.hpp"

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "sched/pool.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

void wait_until_others_park() {
  sched::pool& pool = sched::this_worker()->owner();
  for (unsigned i = 1; i < pool.size(); ++i)
    while (!pool.at(i).parked()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // parked() is announced a little before the sleep
}

double spawn_all(task_group& group, unsigned tasks, std::atomic<std::uint64_t>& ran) {
  const std::uint64_t start_ns = base::now_ns();
  for (unsigned i = 0; i < tasks; ++i) group.run([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
  return static_cast<double>(base::now_ns() - start_ns) / tasks;
}

// Into a pool in which each other worker runs a task that blocks its thread.
double spawn_among_occupied(unsigned tasks, std::atomic<std::uint64_t>& ran) {
  const unsigned others = sched::this_worker()->owner().size() - 1;
  std::atomic<unsigned> occupied{0};  // partners: the tasks below
  std::atomic<bool> over{false};      // partners: the tasks below
  task_group blocking;
  for (unsigned i = 0; i < others; ++i)
    blocking.run([&] {
      occupied.fetch_add(1, std::memory_order_relaxed);
      over.wait(false, std::memory_order_acquire);
    });
  while (occupied.load(std::memory_order_relaxed) < others) std::this_thread::sleep_for(std::chrono::microseconds(100));
  task_group group;
  const double ns = spawn_all(group, tasks, ran);
  over.store(true, std::memory_order_release);
  over.notify_all();
  group.wait();
  blocking.wait();
  return ns;
}

struct wake_options {
  measuring_options measuring;
  unsigned workers = 0;
  unsigned tasks = 1000;
};

int run_wake(const wake_options& options) {
  constexpr unsigned k_rounds = 20;  // in one pool
  check_settings();
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  report result("shoal bench wake: tasks spawned into a sleeping pool");
  result.parameter("workers", workers);
  result.parameter("tasks", options.tasks);
  result.begin(options.measuring);
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(static_cast<std::size_t>(round), "wake");
    const wake_result r = measure_wake(workers, options.tasks, k_rounds);
    for (const double ns : r.ns_per_spawn) result.record("ns_per_spawn", "ns", ns);
    for (const double wakes : r.wakes) result.record("wakes", "", wakes);
    for (const double ns : r.awake_ns_per_spawn) result.record("awake_ns_per_spawn", "ns", ns);
    result.record("system_calls", "", r.system_calls);
    result.record("parks", "", r.parks);
    result.record("heavy_fences", "", r.heavy_fences);
    result.check("tasks_ran", r.correct, "each task once");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

wake_result measure_wake(unsigned workers, unsigned tasks, unsigned rounds) {
  wake_result result;
  std::atomic<std::uint64_t> ran{0};  // partners: the tasks
  bool correct = true;
  const auto sleeping = [&] {
    for (unsigned round = 0; round < rounds; ++round) {
      wait_until_others_park();
      const std::uint64_t wakes = sched::this_worker()->counts().wakes;
      ran.store(0, std::memory_order_relaxed);
      task_group group;
      result.ns_per_spawn.push_back(spawn_all(group, tasks, ran));
      result.wakes.push_back(static_cast<double>(sched::this_worker()->counts().wakes - wakes));
      group.wait();
      correct = correct && ran.load(std::memory_order_relaxed) == tasks;
    }
  };
  const worker_counts counts = run_on_workers(workers, sleeping);
  result.system_calls = static_cast<double>(counts.system_calls) / rounds;
  result.parks = static_cast<double>(counts.parks) / rounds;
  result.heavy_fences = static_cast<double>(counts.heavy_fences) / rounds;
  const auto occupied = [&] {
    for (unsigned round = 0; round < rounds; ++round) {
      ran.store(0, std::memory_order_relaxed);
      result.awake_ns_per_spawn.push_back(spawn_among_occupied(tasks, ran));
      correct = correct && ran.load(std::memory_order_relaxed) == tasks;
    }
  };
  run_on_workers(workers, occupied);
  result.correct = correct;
  return result;
}

subcommand_body declare_wake(CLI::App& app) {
  auto options = std::make_shared<wake_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("-w,--workers", options->workers, "worker threads; default: one per processor")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W");
  app.add_option("--tasks", options->tasks, "spawned in a round")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  return [options] { return run_wake(*options); };
}

}  // namespace shoal::bench
