// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/priorities.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
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
  unsigned workers = 0;
};

int run_priorities(priorities_options o) {
  check_settings();
  o.balance.workers = o.background.workers = o.workers != 0 ? o.workers : default_workers();
  report result("shoal bench priorities: a chain beside short tasks, and tasks in the background");
  result.parameter("workers", o.balance.workers);
  result.parameter("links", o.balance.links);
  result.parameter("tasks", o.balance.tasks);
  result.parameter("steps", o.background.steps);
  o.measuring.seconds = 0;
  result.begin(o.measuring);
  progress line(static_cast<std::size_t>(o.measuring.repeat) * 5);
  std::size_t done = 0;
  const std::uint64_t expected = o.balance.links + o.balance.tasks;
  for (int i = 0; i < o.measuring.repeat; ++i) {
    for (const auto& [p, name] : {std::pair{priority::normal, "normal"}, {priority::high, "high"}}) {
      line.show(done++, name);
      const balance_result b = run_balance(o.balance, p);
      result.record(fmt::format("all_{}_ms", name), "ms", b.seconds * 1e3);
      result.record(fmt::format("chain_{}_ms", name), "ms", b.chain_seconds * 1e3);
      result.check("all_ran", b.done == expected, fmt::format("{} of {}", b.done, expected));
    }
    double alone = 0;
    for (const auto& [has, p, name] : {std::tuple{false, priority::normal, "alone"},
                                       {true, priority::normal, "beside_normal"},
                                       {true, priority::background, "beside_background"}}) {
      line.show(done++, name);
      const background_result b = run_background(o.background, has, p);
      if (!has) alone = b.seconds;
      result.record(fmt::format("foreground_{}_ms", name), "ms", b.seconds * 1e3);
      if (!has) continue;
      result.record(fmt::format("kept_{}", name), "%", alone / b.seconds * 100);
      result.record(fmt::format("background_tasks_{}", name), "", static_cast<double>(b.background));
      result.check("foreground_ran", b.foreground == std::uint64_t{o.background.steps} * o.background.tasks,
                   fmt::format("{} tasks", b.foreground));
    }
  }
  line.clear();
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
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--tasks", o->balance.tasks, "short tasks beside the chain")
      ->check(CLI::Range(0U, 10'000'000U))
      ->capture_default_str();
  app.add_option("--task-us", o->balance.task_us, "microseconds of a short task")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--steps", o->background.steps, "steps of the foreground")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--background-us", o->background.background_us, "microseconds of a task in the background")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  return [o] { return run_priorities(*o); };
}

}  // namespace shoal::bench
