// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/barrier.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "bench/job.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/array.hpp"
#include "shoal/on.hpp"
#include "shoal/spmd.hpp"

namespace shoal::bench {
namespace {

struct barrier_options {
  measuring_options measuring;
  job_options job;
};

// The results of node 0, and errors on any node.
enum slot : std::uint64_t { k_barrier_ns, k_allreduce_ns, k_too_early, k_wrong_sums, k_slots };

int run_barrier(const barrier_options& options) {
  report result("shoal bench barrier: a barrier and an allreduce of 8 bytes over the nodes");
  const std::uint32_t nodes = node_count();
  result.parameter("nodes", nodes);
  result.parameter("transport", options.job.transport);
  result.begin(options.measuring);
  constexpr std::uint64_t k_trial_rounds = 200;
  const auto trial = measure_barrier(k_trial_rounds);
  const double round_us = std::max(trial.barrier_us + trial.allreduce_us, 0.1);
  const auto rounds =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(options.measuring.seconds * 1e6 / round_us), k_trial_rounds);
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int repetition = 0; repetition < options.measuring.repeat; ++repetition) {
    line.show(static_cast<std::size_t>(repetition), fmt::format("{} rounds", rounds));
    const auto one = measure_barrier(rounds);
    result.record("barrier_us", "us", one.barrier_us);
    result.record("allreduce_us", "us", one.allreduce_us);
    result.check("barrier_order", one.ordered, "no node left a barrier before all nodes had entered");
    result.check("sums", one.summed, "every reduction returned the same correct sum on every node");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

barrier_result measure_barrier(std::uint64_t rounds) {
  global_array<std::uint64_t> results(k_slots, distribution::local);
  global_array<std::uint64_t> arrivals(1, distribution::local);
  spmd([rounds, out = results.ref(), came = arrivals.ref()](team& t) {
    const std::uint64_t me = t.rank();
    const std::uint64_t members = t.size();
    // Tests the barrier: each node sets its flag before, and must see all flags after.
    constexpr std::uint64_t k_order_rounds = 20;
    for (std::uint64_t i = 1; i <= k_order_rounds; ++i) {
      came.add(0, 1);
      t.barrier();
      if (came.get(0) < i * members) out.add(k_too_early, 1);
      t.barrier();
    }
    const std::uint64_t start_ns = base::now_ns();
    for (std::uint64_t i = 0; i < rounds; ++i) t.barrier();
    const std::uint64_t middle_ns = base::now_ns();
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const std::uint64_t sum = t.all_reduce(me * i, std::plus<>{});
      wrong += sum == members * (members - 1) / 2 * i ? 0 : 1;
    }
    const std::uint64_t end_ns = base::now_ns();
    if (wrong != 0) out.add(k_wrong_sums, wrong);
    if (me == 0) {
      out.put(k_barrier_ns, middle_ns - start_ns);
      out.put(k_allreduce_ns, end_ns - middle_ns);
    }
  });
  const auto us = [&](slot s) { return static_cast<double>(results->get(s)) / 1e3 / static_cast<double>(rounds); };
  return {us(k_barrier_ns), us(k_allreduce_ns), results->get(k_too_early) == 0, results->get(k_wrong_sums) == 0};
}

subcommand_body declare_barrier(CLI::App& app) {
  auto options = std::make_shared<barrier_options>();
  add_measuring_options(app, options->measuring);
  add_job_options(app, options->job);
  return [options] {
    if (options->job.nodes == 0) options->job.nodes = 2;
    return run_as_job(options->job, [options] { return run_barrier(*options); });
  };
}

}  // namespace shoal::bench
