// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/spawn.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

std::uint64_t fib_by_invoke(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  parallel_invoke([&a, n] { a = fib_by_invoke(n - 1); }, [&b, n] { b = fib_by_invoke(n - 2); });
  return a + b;
}

std::uint64_t fib_by_group(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  task_group group;
  group.run([&a, n] { a = fib_by_group(n - 1); });
  const std::uint64_t b = fib_by_group(n - 2);
  group.wait();
  return a + b;
}

std::uint64_t fibonacci(unsigned n) {
  std::uint64_t a = 0;
  std::uint64_t b = 1;
  for (; n > 0; --n) {
    const std::uint64_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

struct spawn_options {
  measuring_options measuring;
  unsigned workers = 0;
  unsigned n = 32;
  std::string steal;  // empty: the setting
  profile_choice profile;
};

int run_spawn(const spawn_options& options) {
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  report result("shoal bench spawn: Fibonacci numbers by tasks, without a cut-off");
  result.parameter("workers", workers);
  result.parameter("n", options.n);
  result.parameter("steal", chosen_steal(options.steal));
  profile_collector profiling(options.profile);
  result.begin(options.measuring);
  progress line(2 * static_cast<std::size_t>(options.measuring.repeat));
  std::size_t done = 0;
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(done++, "parallel_invoke");
    const auto invoke = measure_spawn(spawn_form::invoke, workers, options.n, options.steal, &profiling);
    result.record("ns_per_spawn", "ns", invoke.ns_per_spawn);
    result.record("steals", "", static_cast<double>(invoke.steals));
    result.check("fibonacci", invoke.correct, "by parallel_invoke");
    line.show(done++, "task_group");
    const auto group = measure_spawn(spawn_form::group, workers, options.n, options.steal, &profiling);
    result.record("group_ns_per_spawn", "ns", group.ns_per_spawn);
    result.record("group_steals", "", static_cast<double>(group.steals));
    result.check("fibonacci", group.correct, "by task_group");
  }
  line.clear();
  const int status = result.finish(options.measuring);
  profiling.finish();
  return status;
}

}  // namespace

spawn_result measure_spawn(spawn_form form, unsigned workers, unsigned n, const std::string& steal,
                           profile_collector* profiling) {
  std::uint64_t number = 0;
  std::uint64_t elapsed_ns = 0;
  const worker_counts counts = run_on_workers(
      workers,
      [&] {
        const std::uint64_t start_ns = base::now_ns();
        number = form == spawn_form::invoke ? fib_by_invoke(n) : fib_by_group(n);
        elapsed_ns = base::now_ns() - start_ns;
      },
      steal, profiling);
  // Each call with n >= 2 spawns once; there are fib(n + 1) - 1 of them.
  const std::uint64_t expected = fibonacci(n + 1) - 1;
  return {static_cast<double>(elapsed_ns) / static_cast<double>(expected == 0 ? 1 : expected), counts.spawned,
          counts.stolen, number == fibonacci(n) && counts.spawned == expected};
}

subcommand_body declare_spawn(CLI::App& app) {
  auto options = std::make_shared<spawn_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("-w,--workers", options->workers, "worker threads; default: one per processor")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W");
  app.add_option("--n", options->n, "index of the Fibonacci number")->check(CLI::Range(2U, 45U))->capture_default_str();
  app.add_option("--steal", options->steal, "the victim policy of workers; default: the setting steal")
      ->type_name("POLICY");
  add_profile_options(app, options->profile);
  return [options] { return run_spawn(*options); };
}

}  // namespace shoal::bench
