// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/steal_profile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "base/clock.hpp"
#include "base/comma_list.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "runtime/profile_report.hpp"
#include "sched/steal_policies.hpp"
#include "shoal/profile.hpp"
#include "shoal/random.hpp"
#include "shoal/task.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {
namespace {

constexpr std::uint64_t k_root = 42;

// A quarter of the nodes are leaves; the others have up to 4 children, so that subtrees differ much.
unsigned children_of(std::uint64_t name, unsigned depth, unsigned most) noexcept {
  if (depth == most) return 0;
  if (depth < 3) return 4;
  const std::uint64_t h = mix64(name);
  return (h & 3) == 0 ? 0 : 1 + static_cast<unsigned>((h >> 2) % 4);
}

struct part {
  const char* name;
  const char* colour;
  double (*of)(const profile_worker&);
};
constexpr std::array<part, 8> k_parts_of_time = {{
    {"work", "#4477aa", [](const profile_worker& w) { return w.work_seconds; }},
    {"spawn", "#66ccee", [](const profile_worker& w) { return w.spawn.seconds; }},
    {"get", "#228833", [](const profile_worker& w) { return w.get.seconds; }},
    {"steal", "#ccbb44", [](const profile_worker& w) { return w.steal.seconds; }},
    {"resume", "#aa3377",
     [](const profile_worker& w) { return w.resume.seconds + w.messages.seconds + w.ring.seconds; }},
    {"look", "#ee6677", [](const profile_worker& w) { return w.look.seconds; }},
    {"spin", "#dd9944", [](const profile_worker& w) { return w.spin.seconds; }},
    {"park", "#dddddd", [](const profile_worker& w) { return w.park.seconds; }},
}};

profile_attempts attempts_of(const profile_worker& w) {
  profile_attempts all;
  for (const profile_attempts& a : w.attempts) {
    all.won += a.won;
    all.lost += a.lost;
    all.empty += a.empty;
  }
  return all;
}

struct steal_options {
  measuring_options measuring;
  std::vector<std::string> policies;
  std::vector<unsigned> workers = {1, 2, 4, 8};
  unsigned depth = 14;
  double work_ns = 500;
  std::string picture;
};

profile measure_tree(const steal_options& o, const std::string& policy, unsigned workers, std::uint64_t& nodes) {
  profile measured;
  const double ticks = o.work_ns * base::ticks_per_us() * 1e-3;
  run_on_workers(
      workers,
      [&] {
        profile_options options;
        options.interval_seconds = 0;
        profile_span span = begin_profile(options);
        nodes = count_tree_by_tasks(k_root, 0, o.depth, ticks);
        measured = span.end();
      },
      policy);
  return measured;
}

std::vector<std::string> without_arguments() {
  std::vector<std::string> names;
  for (const auto& one : sched::known_steal_policies())
    if (one.form.find('(') == std::string::npos) names.push_back(one.form);
  return names;
}

int run_steal_profile(steal_options o) {
  check_settings();
  std::vector<std::string> policies;
  for (const std::string& text : o.policies)
    for (std::string& one : base::split_list(text)) policies.push_back(std::move(one));
  o.policies = std::move(policies);
  if (o.policies.empty()) o.policies = without_arguments();
  for (const std::string& p : o.policies) static_cast<void>(sched::find_steal_policy(p));
  if (!o.picture.empty()) require_writable(o.picture, "the picture");
  const std::uint64_t expected = count_tree(k_root, 0, o.depth);
  report result("shoal bench steal-profile: where the time of stealing workers goes");
  result.parameter("nodes", expected);
  result.parameter("work_ns", o.work_ns);
  o.measuring.seconds = 0;
  result.begin(o.measuring);
  progress line(o.policies.size() * o.workers.size() * static_cast<std::size_t>(o.measuring.repeat));
  std::vector<steal_row> rows;
  for (const std::string& policy : o.policies)
    for (const unsigned workers : o.workers) rows.push_back({policy, workers, 0, {}});
  std::vector<profile> sums(rows.size());
  std::vector<double> walls(rows.size(), 0);
  std::size_t done = 0;
  for (int i = 0; i < o.measuring.repeat; ++i)
    for (std::size_t k = 0; k < rows.size(); ++k) {
      line.show(done++, fmt::format("{} with {} workers", rows[k].policy, rows[k].workers));
      std::uint64_t nodes = 0;
      const profile p = measure_tree(o, rows[k].policy, rows[k].workers, nodes);
      result.check("nodes", nodes == expected, fmt::format("{} nodes of {}", nodes, expected));
      result.record(fmt::format("seconds_{}_{}", rows[k].policy, rows[k].workers), "s", p.wall_seconds);
      walls[k] += p.wall_seconds;
      if (sums[k].workers.empty())
        sums[k] = p;
      else
        append(sums[k], p);
    }
  line.clear();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].seconds = result.find_metric(fmt::format("seconds_{}_{}", rows[k].policy, rows[k].workers))->median();
    rows[k].sum = sums[k].total();
    count_absent(rows[k], walls[k]);
  }
  fmt::print(o.measuring.json == "-" ? stderr : stdout, "{}\n", steal_table(rows));
  if (!o.picture.empty()) runtime::write_whole_file(o.picture, "the picture", steal_picture(rows));
  return result.finish(o.measuring);
}

}  // namespace

std::uint64_t count_tree(std::uint64_t name, unsigned depth, unsigned most) noexcept {
  std::uint64_t sum = 1;
  for (unsigned c = children_of(name, depth, most); c > 0; --c) sum += count_tree(mix64(name + c), depth + 1, most);
  return sum;
}

std::uint64_t count_tree_by_tasks(std::uint64_t name, unsigned depth, unsigned most, double spin_ticks) {
  const std::uint64_t until = base::ticks() + static_cast<std::uint64_t>(spin_ticks);
  while (base::ticks() < until) {
  }
  const unsigned children = children_of(name, depth, most);
  std::array<std::uint64_t, 4> sums{};
  task_group group;
  for (unsigned c = 0; c < children; ++c)
    group.run([&sums, name, depth, most, spin_ticks, c] {
      sums[c] = count_tree_by_tasks(mix64(name + c + 1), depth + 1, most, spin_ticks);
    });
  group.wait();
  return 1 + sums[0] + sums[1] + sums[2] + sums[3];
}

void count_absent(steal_row& row, double wall_seconds) {
  row.sum.park.seconds += std::max(0.0, wall_seconds * row.workers - row.sum.seconds());
}

std::string steal_table(const std::vector<steal_row>& rows) {
  std::string text = fmt::format("{:<16} {:>7} {:>9}", "policy", "workers", "seconds");
  for (const part& p : k_parts_of_time) text += fmt::format(" {:>7}", p.name);
  text += fmt::format(" {:>9} {:>9} {:>9}\n", "won", "lost", "empty");
  for (const steal_row& r : rows) {
    const double all = std::max(r.sum.seconds(), 1e-12);
    text += fmt::format("{:<16} {:>7} {:>9.4f}", r.policy, r.workers, r.seconds);
    for (const part& p : k_parts_of_time) text += fmt::format(" {:>6.2f}%", p.of(r.sum) / all * 100);
    const profile_attempts a = attempts_of(r.sum);
    text += fmt::format(" {:>9} {:>9} {:>9}\n", a.won, a.lost, a.empty);
  }
  return text;
}

std::string steal_picture(const std::vector<steal_row>& rows) {
  constexpr double k_left = 150;
  constexpr double k_width = 600;
  constexpr double k_row_height = 18;
  trace::drawing d;
  d.text(10, 20, "where the workers' time goes, by policy and number of workers", "start", 14);
  double x = 10;
  for (const part& p : k_parts_of_time) {
    d.box(x, 30, 10, 10, p.colour);
    d.text(x + 14, 39, p.name);
    x += 75;
  }
  double y = 54;
  for (const steal_row& r : rows) {
    d.text(k_left - 6, y + 12, fmt::format("{}, {}", r.policy, r.workers), "end", 11);
    double left = k_left;
    const double all = std::max(r.sum.seconds(), 1e-12);
    for (const part& p : k_parts_of_time) {
      const double width = p.of(r.sum) / all * k_width;
      d.box(left, y, width, k_row_height - 4, p.colour, fmt::format("{}: {:.2f} %", p.name, p.of(r.sum) / all * 100));
      left += std::max(width, 0.0);
    }
    d.text(k_left + k_width + 8, y + 12, fmt::format("{:.4f} s", r.seconds), "start", 11);
    y += k_row_height;
  }
  return d.finish(k_left + k_width + 90, y + 10);
}

subcommand_body declare_steal_profile(CLI::App& app) {
  auto o = std::make_shared<steal_options>();
  o->measuring.repeat = 3;
  add_measuring_options(app, o->measuring);
  app.add_option("--policies", o->policies, "victim policies, by name (default: all without arguments)")
      ->type_name("A,B,...");
  app.add_option("-w,--workers", o->workers, "numbers of workers")
      ->delimiter(',')
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--depth", o->depth, "levels of the tree; each level doubles it, about")
      ->check(CLI::Range(1U, 30U))
      ->capture_default_str();
  app.add_option("--work-ns", o->work_ns, "nanoseconds of work in each node")
      ->check(real_range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--picture", o->picture, "draw the shares (SVG)")->type_name("FILE");
  return [o] { return run_steal_profile(*o); };
}

}  // namespace shoal::bench
