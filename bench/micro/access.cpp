// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/access.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "bench/job.hpp"
#include "bench/micro/access_work.hpp"
#include "bench/report.hpp"
#include "bench/traffic.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"

namespace shoal::bench {
namespace {

struct access_options {
  measuring_options measuring;
  job_options job;
  std::string op = "add";
  std::string mode = "async";
  std::string pattern = "remote";
  std::uint64_t tasks = 0;
  std::uint64_t table_mb = 256;
  std::uint32_t bytes = 8;
};

const std::map<std::string, access_op> k_ops{{"add", access_op::add},       {"put", access_op::put},
                                             {"get", access_op::get},       {"cas", access_op::cas},
                                             {"gather", access_op::gather}, {"cached", access_op::cached}};
const std::map<std::string, access_mode> k_modes{{"async", access_mode::async}, {"blocking", access_mode::blocking}};
const std::map<std::string, access_pattern> k_patterns{{"remote", access_pattern::remote},
                                                       {"skewed", access_pattern::skewed},
                                                       {"uniform", access_pattern::uniform},
                                                       {"hotspot", access_pattern::hotspot},
                                                       {"local", access_pattern::local}};

access_plan plan_of(const access_options& o) {
  access_plan plan;
  plan.op = k_ops.at(o.op);
  plan.mode = k_modes.at(o.mode);
  plan.pattern = k_patterns.at(o.pattern);
  plan.bytes = o.bytes;
  plan.tasks_per_node = o.tasks != 0 ? o.tasks : plan.mode == access_mode::async ? 16 : 1024;
  return plan;
}

int measure(const access_options& o) {
  access_plan plan = plan_of(o);
  if ((plan.pattern == access_pattern::remote || plan.pattern == access_pattern::skewed) && node_count() == 1)
    throw error(errc::invalid_argument, fmt::format("--pattern {} needs two nodes or more: -n 2", o.pattern));
  access_table table(o.table_mb << 20, o.bytes);
  report r("access");
  r.parameter("nodes", node_count());
  r.parameter("workers", worker_count());
  r.parameter("direct", o.job.direct);
  r.parameter("op", o.op);
  r.parameter("mode", o.mode);
  r.parameter("pattern", o.pattern);
  r.parameter("tasks", plan.tasks_per_node);
  r.parameter("bytes", o.bytes);
  r.parameter("table_mb", o.table_mb);
  r.parameter("huge_pages_mb", table.memory().huge_bytes >> 20);
  r.begin(o.measuring);

  // Chooses the number of operations that fills the time.
  table.reset(plan);
  plan.operations_per_task = std::max<std::uint64_t>((1 << 21) / o.bytes / plan.tasks_per_node, 1);
  table.run(plan);
  const double once = table.run(plan);
  plan.operations_per_task = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(plan.operations_per_task) * o.measuring.seconds / once), 1);
  for (int i = 0; i < o.measuring.repeat; ++i) {
    const auto before = traffic_so_far();
    const double seconds = table.run(plan);
    const auto after = traffic_so_far();
    const double operations =
        static_cast<double>(plan.tasks_per_node * node_count()) * static_cast<double>(plan.operations_per_task);
    r.record("rate", "Mops/s", operations / seconds * 1e-6);
    r.record("bytes_per_second", "MB/s", operations * o.bytes / seconds * 1e-6);
    if (plan.op == access_op::cached) {
      const read_cache_counts& c = table.cache_counts();
      const auto all = static_cast<double>(c.hits + c.misses + c.merged + c.bypassed);
      r.record("cache_hits", "of 1", all == 0 ? 0 : static_cast<double>(c.hits + c.merged) / all);
    }
    record_traffic(r, before, after);
  }
  const std::string wrong = table.check(plan);
  r.check("result", wrong.empty(), wrong.empty() ? "the table holds the result of all operations" : wrong);
  return r.finish(o.measuring);
}

}  // namespace

subcommand_body declare_access(CLI::App& app) {
  auto o = std::make_shared<access_options>();
  add_measuring_options(app, o->measuring);
  add_job_options(app, o->job);
  app.add_option("--op", o->op, "add, put, get, cas, gather (by lists of indices) or cached (get through a read_cache)")
      ->check(CLI::IsMember({"add", "put", "get", "cas", "gather", "cached"}));
  app.add_option("--mode", o->mode, "async: wait at the end; blocking: each operation waits")
      ->check(CLI::IsMember({"async", "blocking"}));
  app.add_option(
         "--pattern", o->pattern,
         "targets: remote (another node), skewed (the same, word k as often as 1 / k says), uniform, hotspot or local")
      ->check(CLI::IsMember({"remote", "skewed", "uniform", "hotspot", "local"}));
  app.add_option("--tasks", o->tasks, "tasks per node (default: 16 async, 1024 blocking)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24));
  app.add_option("--table-mb", o->table_mb, "size of the table, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--bytes", o->bytes, "per operation: a multiple of 8; more than 8 for put and get")
      ->check(CLI::Range(8U, 1U << 24))
      ->capture_default_str();
  return [o] {
    if (o->bytes % 8 != 0) throw error(errc::invalid_argument, "--bytes takes a multiple of 8");
    if (o->bytes > 8 && o->op != "put" && o->op != "get")
      throw error(errc::invalid_argument, "--bytes above 8 goes with --op put or get");
    return run_as_job(o->job, [o] { return measure(*o); });
  };
}

}  // namespace shoal::bench
