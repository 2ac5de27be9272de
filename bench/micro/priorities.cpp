// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/priorities.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "bench/micro/priorities_groups.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

void compute_for(double us) {
  const std::uint64_t until = base::ticks() + static_cast<std::uint64_t>(us * base::ticks_per_us());
  while (base::ticks() < until) {
  }
}

// A link begins the next one when it ends.
class chain {
public:
  chain(task_group& group, const balance_request& r, priority p, std::atomic<std::uint64_t>& done)
      : group_(group), request_(r), priority_(p), done_(done) {}

  void begin() {
    group_.run(priority_, [this] {
      compute_for(request_.link_us);
      done_.fetch_add(1, std::memory_order_relaxed);
      if (++links_ < request_.links)
        begin();
      else
        ended_ns_ = base::now_ns();
    });
  }

  /// After the group's wait.
  std::uint64_t ended_ns() const { return ended_ns_; }

private:
  task_group& group_;
  const balance_request& request_;
  const priority priority_;
  std::atomic<std::uint64_t>& done_;  // partners: the tasks
  unsigned links_ = 0;
  std::uint64_t ended_ns_ = 0;
};

struct priorities_options {
  measuring_options measuring;
  balance_request balance;
  background_request background;
  groups_request groups;
  unsigned workers = 0;
  std::vector<std::string> experiments = {"balance", "background", "groups"};
  std::string picture;
};

double median_of(const report& result, const std::string& name) {
  const metric* const m = result.find_metric(name);
  return m == nullptr ? 0 : m->median();
}

void measure_balance(report& result, const balance_request& r) {
  const std::uint64_t expected = r.links + r.tasks;
  for (const auto& [p, name] : {std::pair{priority::normal, "normal"}, {priority::high, "high"}}) {
    const balance_result b = run_balance(r, p);
    result.record(fmt::format("all_{}_ms", name), "ms", b.seconds * 1e3);
    result.record(fmt::format("chain_{}_ms", name), "ms", b.chain_seconds * 1e3);
    result.check("all_ran", b.done == expected, fmt::format("{} of {}", b.done, expected));
  }
}

void measure_background(report& result, const background_request& r) {
  double alone = 0;
  for (const auto& [has, p, name] : {std::tuple{false, priority::normal, "alone"},
                                     {true, priority::normal, "beside_normal"},
                                     {true, priority::background, "beside_background"}}) {
    const background_result b = run_background(r, has, p);
    if (!has) alone = b.seconds;
    result.record(fmt::format("foreground_{}_ms", name), "ms", b.seconds * 1e3);
    if (!has) continue;
    result.record(fmt::format("kept_{}", name), "%", alone / b.seconds * 100);
    result.record(fmt::format("background_tasks_{}", name), "", static_cast<double>(b.background));
    result.check("foreground_ran", b.foreground == std::uint64_t{r.steps} * r.tasks,
                 fmt::format("{} tasks", b.foreground));
  }
}

void measure_groups(report& result, const groups_request& r) {
  const groups_work work = measure_work(r);
  result.record("step_ideal_ms", "ms", ideal_seconds(r, work) * 1e3);
  for (const treatment_name& t : k_treatments) {
    const groups_result g = run_groups(r, t.how, work);
    result.record(fmt::format("step_{}_ms", t.name), "ms", g.seconds * 1e3);
    result.record(fmt::format("first_{}_ms", t.name), "ms", g.first_seconds * 1e3);
    result.record(fmt::format("others_{}_ms", t.name), "ms", g.others_seconds * 1e3);
    result.record(fmt::format("moved_{}", t.name), "", g.moved);
    const auto right = std::count(g.sums.begin(), g.sums.end(), work.sum);
    result.check("sums", right == static_cast<std::ptrdiff_t>(r.steps),
                 fmt::format("{}: {} of {} steps", t.name, right, r.steps));
    result.check("processors_kept", g.stayed, fmt::format("{}: each group ran on its own", t.name));
    result.check("granted", g.granted, fmt::format("{}: processors and nice values", t.name));
  }
}

std::vector<groups_row> rows_of(const report& result) {
  std::vector<groups_row> rows;
  for (const treatment_name& t : k_treatments)
    rows.push_back({t.name, median_of(result, fmt::format("step_{}_ms", t.name)),
                    median_of(result, fmt::format("first_{}_ms", t.name)),
                    median_of(result, fmt::format("others_{}_ms", t.name)),
                    median_of(result, fmt::format("moved_{}", t.name))});
  return rows;
}

std::vector<priorities_panel> panels_of(const report& result) {
  std::vector<priorities_panel> panels;
  const auto bar = [&](const char* name, const char* ms, const char* until) {
    return priorities_bar{name, median_of(result, ms), until == nullptr ? 0 : median_of(result, until)};
  };
  if (result.find_metric("chain_normal_ms") != nullptr)
    panels.push_back({"a chain beside short tasks: until its end; grey: until all have ended",
                      {bar("normal priority", "chain_normal_ms", "all_normal_ms"),
                       bar("high priority", "chain_high_ms", "all_high_ms")}});
  if (result.find_metric("foreground_alone_ms") != nullptr)
    panels.push_back({"a foreground beside tasks that nobody waits for",
                      {bar("alone", "foreground_alone_ms", nullptr),
                       bar("beside normal ones", "foreground_beside_normal_ms", nullptr),
                       bar("beside background ones", "foreground_beside_background_ms", nullptr)}});
  if (result.find_metric("step_ideal_ms") == nullptr) return panels;
  priorities_panel groups{"a step of groups with unequal work: computing; grey: waiting for the others",
                          {},
                          median_of(result, "step_ideal_ms")};
  for (const groups_row& r : rows_of(result)) {
    groups.bars.push_back({r.name + ", first group", r.first_ms, r.ms});
    groups.bars.push_back({"others", r.others_ms, r.ms});
  }
  panels.push_back(std::move(groups));
  return panels;
}

int run_priorities(priorities_options o) {
  check_settings();
  if (!o.picture.empty()) require_writable(o.picture, "the picture");
  o.balance.workers = o.background.workers = o.workers != 0 ? o.workers : default_workers();
  o.groups = completed(o.groups);
  const auto has = [&](const char* name) {
    return std::find(o.experiments.begin(), o.experiments.end(), name) != o.experiments.end();
  };
  report result("shoal bench priorities: chains, background tasks, and groups with unequal work");
  result.parameter("workers", o.balance.workers);
  result.parameter("links", o.balance.links);
  result.parameter("tasks", o.balance.tasks);
  result.parameter("steps", o.background.steps);
  result.parameter("groups", o.groups.groups);
  result.parameter("group_workers", o.groups.workers);
  result.parameter("processors", o.groups.processors);
  result.parameter("imbalance", o.groups.imbalance);
  result.parameter("group_tasks", o.groups.tasks);
  o.measuring.seconds = 0;
  result.begin(o.measuring);
  progress line(static_cast<std::size_t>(o.measuring.repeat) * o.experiments.size());
  std::size_t done = 0;
  for (int i = 0; i < o.measuring.repeat; ++i)
    for (const std::string& e : o.experiments) {
      line.show(done++, e);
      if (e == "balance") measure_balance(result, o.balance);
      if (e == "background") measure_background(result, o.background);
      if (e == "groups") measure_groups(result, o.groups);
    }
  line.clear();
  if (has("groups")) {
    std::FILE* const out = o.measuring.json == "-" ? stderr : stdout;
    fmt::print(out, "{}", groups_table(rows_of(result), median_of(result, "step_ideal_ms")));
    if (const unsigned all = o.groups.groups * o.groups.workers; all > o.groups.processors)
      fmt::print(out, "{} workers of {} groups take turns on {} (high: one pool, a worker for each)\n", all,
                 o.groups.groups, base::counted(o.groups.processors, "processor"));
    fmt::print(out, "\n");
  }
  if (!o.picture.empty()) runtime::write_whole_file(o.picture, "the picture", priorities_picture(panels_of(result)));
  return result.finish(o.measuring);
}

}  // namespace

balance_result run_balance(const balance_request& r, priority of_chain) {
  std::atomic<std::uint64_t> ran{0};  // partners: the tasks
  balance_result result;
  run_on_workers(r.workers, [&] {
    const std::uint64_t begin_ns = base::now_ns();
    task_group group;
    chain links(group, r, of_chain, ran);
    links.begin();
    for (unsigned i = 0; i < r.tasks; ++i)
      group.run([&] {
        compute_for(r.task_us);
        ran.fetch_add(1, std::memory_order_relaxed);
      });
    group.wait();
    result.seconds = static_cast<double>(base::now_ns() - begin_ns) * 1e-9;
    result.chain_seconds = static_cast<double>(links.ended_ns() - begin_ns) * 1e-9;
  });
  result.done = ran.load(std::memory_order_relaxed);
  return result;
}

background_result run_background(const background_request& r, bool has_background, priority of_background) {
  background_result result;
  std::atomic<bool> over{false};             // partners: the tasks of the background
  std::atomic<std::uint64_t> foreground{0};  // partners: the tasks
  std::atomic<std::uint64_t> background{0};  // partners: the tasks
  run_on_workers(r.workers, [&] {
    task_group behind;
    // Each begins its follower, so that there are always as many as workers.
    std::function<void()> one = [&] {
      if (over.load(std::memory_order_relaxed)) return;
      compute_for(r.background_us);
      background.fetch_add(1, std::memory_order_relaxed);
      behind.run(of_background, one);
    };
    if (has_background)
      for (unsigned w = 0; w < r.workers; ++w) behind.run(of_background, one);
    const std::uint64_t begin_ns = base::now_ns();
    for (unsigned s = 0; s < r.steps; ++s) {
      task_group step;
      for (unsigned i = 0; i < r.tasks; ++i)
        step.run([&] {
          compute_for(r.task_us);
          foreground.fetch_add(1, std::memory_order_relaxed);
        });
      step.wait();
    }
    result.seconds = static_cast<double>(base::now_ns() - begin_ns) * 1e-9;
    result.background = background.load(std::memory_order_relaxed);
    over.store(true, std::memory_order_relaxed);
    behind.wait();
  });
  result.foreground = foreground.load(std::memory_order_relaxed);
  return result;
}

subcommand_body declare_priorities(CLI::App& app) {
  auto o = std::make_shared<priorities_options>();
  o->measuring.repeat = 5;
  add_measuring_options(app, o->measuring);
  app.add_option("-w,--workers", o->workers, "workers (default: as a node has)")->check(CLI::Range(0U, 1024U));
  app.add_option("--links", o->balance.links, "links of the chain")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--link-us", o->balance.link_us, "microseconds of a link")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--tasks", o->balance.tasks, "short tasks beside the chain")
      ->check(CLI::Range(0U, 10'000'000U))
      ->capture_default_str();
  app.add_option("--task-us", o->balance.task_us, "microseconds of a short task")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--steps", o->background.steps, "steps of the foreground")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--background-us", o->background.background_us, "microseconds of a task in the background")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--experiments", o->experiments, "balance, background, groups")
      ->delimiter(',')
      ->check(CLI::IsMember({"balance", "background", "groups"}));
  groups_request& g = o->groups;
  app.add_option("--groups", g.groups, "groups, of which the first has more work")
      ->check(CLI::Range(2U, 256U))
      ->capture_default_str();
  app.add_option("--group-workers", g.workers, "workers of each group (default: one per processor)")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--processors", g.processors, "for all groups together (default: as a node has)")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--imbalance", g.imbalance, "how many times as much work the first group has")
      ->check(real_range(1.0, 100.0))
      ->capture_default_str();
  app.add_option("--group-steps", g.steps, "steps of the groups")
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
  app.add_option("--group-tasks", g.tasks, "a step's tasks of any other group, for each processor of an equal part")
      ->check(CLI::Range(1U, 10'000U))
      ->capture_default_str();
  app.add_option("--group-task-us", g.task_us, "microseconds of such a task")
      ->check(real_range(0.01, 1e6))
      ->capture_default_str();
  app.add_option("--nice", g.nice, "how much more nice the other groups are")
      ->check(CLI::Range(1, 19))
      ->capture_default_str();
  app.add_option("--picture", o->picture, "draw the medians (SVG)")->type_name("FILE");
  return [o] { return run_priorities(*o); };
}

}  // namespace shoal::bench
