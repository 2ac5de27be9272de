// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/blocked.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <fstream>
#include <memory>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/memory_info.hpp"
#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(file >> size >> resident))
    throw error(errc::system, "/proc/self/statm cannot be read, so memory cannot be measured");
  return resident * machine::page_size();
}

struct blocked_options {
  measuring_options measuring;
  unsigned workers = 1;
  std::uint64_t tasks = 100'000;
  profile_choice profile;
};

int run_blocked(const blocked_options& options) {
  constexpr std::uint64_t k_about_bytes = 4600;
  machine::require_memory(options.tasks * k_about_bytes, fmt::format("{} waiting tasks", options.tasks));
  report result("shoal bench blocked: tasks that all wait, then all wake");
  result.parameter("tasks", options.tasks);
  result.parameter("workers", options.workers);
  profile_collector profiling(options.profile);
  result.begin(options.measuring);
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(static_cast<std::size_t>(round), fmt::format("{} tasks", options.tasks));
    const auto one = measure_blocked(options.workers, options.tasks, &profiling);
    result.record("bytes_per_task", "B", one.bytes_per_task);
    result.record("block_ns", "ns", one.block_ns);
    result.record("wake_ns", "ns", one.wake_ns);
    result.check("all_waited", one.waited == options.tasks, fmt::format("{} of {}", one.waited, options.tasks));
    result.check("all_woken", one.woken == options.tasks, fmt::format("{} of {}", one.woken, options.tasks));
  }
  line.clear();
  const int status = result.finish(options.measuring);
  profiling.finish();
  return status;
}

}  // namespace

blocked_result measure_blocked(unsigned workers, std::uint64_t tasks, profile_collector* profiling) {
  blocked_result result;
  malloc_trim(0);  // otherwise memory cached by the allocator would be reused without being counted
  std::atomic<std::uint64_t> waiting{0};  // partners: the tasks on all workers, and the main task
  std::atomic<std::uint64_t> woken{0};
  const auto body = [&] {
    const std::uint64_t before_bytes = resident_bytes();
    const std::uint64_t start_ns = base::now_ns();
    latch gate(1);
    task_group group;
    // Spawns in portions, so that there are never more closures than tasks, as in a program that reads its input.
    constexpr std::uint64_t k_portion = 256;
    for (std::uint64_t begun = 0; begun < tasks;) {
      for (std::uint64_t i = 0; i < k_portion && begun < tasks; ++i, ++begun)
        group.run([&gate, &waiting, &woken] {
          waiting.fetch_add(1, std::memory_order_relaxed);
          gate.wait();
          woken.fetch_add(1, std::memory_order_relaxed);
        });
      while (waiting.load(std::memory_order_relaxed) < begun) yield();
    }
    result.block_ns = static_cast<double>(base::now_ns() - start_ns) / static_cast<double>(tasks);
    result.waited = waiting.load(std::memory_order_relaxed);
    const std::uint64_t after_bytes = resident_bytes();
    result.bytes_per_task =
        (static_cast<double>(after_bytes) - static_cast<double>(before_bytes)) / static_cast<double>(tasks);
    const std::uint64_t wake_ns = base::now_ns();
    gate.count_down();
    group.wait();
    result.wake_ns = static_cast<double>(base::now_ns() - wake_ns) / static_cast<double>(tasks);
  };
  run_on_workers(workers, body, "", profiling);
  result.woken = woken.load(std::memory_order_relaxed);
  return result;
}

subcommand_body declare_blocked(CLI::App& app) {
  auto options = std::make_shared<blocked_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("--tasks", options->tasks, "tasks that wait")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{2'000'000}))
      ->capture_default_str();
  app.add_option("-w,--workers", options->workers, "worker threads")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W")
      ->capture_default_str();
  add_profile_options(app, options->profile);
  return [options] { return run_blocked(*options); };
}

}  // namespace shoal::bench
