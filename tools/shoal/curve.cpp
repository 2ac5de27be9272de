// SPDX-License-Identifier: Apache-2.0
// `shoal bench curve`: a benchmark or a kernel over a range of its options, as a table and as a picture.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "bench/progress.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "machine/process.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"
#include "tune/curve.hpp"

namespace shoal::tools {
namespace {

constexpr std::uint64_t k_most_points = 10'000;

struct curve_options {
  std::string name;
  std::vector<std::string> rest;
  std::vector<std::string> axes;
  std::vector<std::string> metrics;
  unsigned repeats = 1;
  double limit_seconds = 0;
  std::string picture;
  std::string json;
};

std::vector<std::string> measuring_command(const curve_options& o) {
  const auto is_it = [&](const subcommand& one) { return o.name == one.name; };
  std::vector<std::string> command = {machine::own_executable()};
  if (std::ranges::any_of(bench::benchmarks(), is_it)) {
    command.emplace_back("bench");
  } else if (std::ranges::none_of(subcommands(), is_it)) {
    throw error(
        errc::invalid_argument,
        fmt::format("'{}' is no benchmark and no kernel; `shoal bench --list` and `shoal --help` show them", o.name));
  }
  command.push_back(o.name);
  command.insert(command.end(), o.rest.begin(), o.rest.end());
  return command;
}

// What all runs of a point gave.
struct point_metrics {
  std::vector<tune::measured_metric> metrics;
  std::string why_not;  // the first failure

  void add(std::vector<tune::measured_metric> more) {
    for (auto& m : more) {
      const auto at = std::ranges::find(metrics, m.name, &tune::measured_metric::name);
      if (at == metrics.end()) {
        metrics.push_back(std::move(m));
      } else {
        at->values.insert(at->values.end(), m.values.begin(), m.values.end());
      }
    }
  }
  const tune::measured_metric* find(const std::string& name) const {
    const auto at = std::ranges::find(metrics, name, &tune::measured_metric::name);
    return at == metrics.end() ? nullptr : &*at;
  }
};

void run_point(point_metrics& into, const tune::command_line& command, double limit_seconds) {
  const tune::program_end end = tune::run_program(command, limit_seconds);
  std::string why = end.why_not;
  if (why.empty()) {
    try {
      auto found = tune::find_metrics(end.output);
      if (found.empty()) why = "it has printed no metrics";
      into.add(std::move(found));
    } catch (const error& e) {
      why = e.what();
    }
  }
  if (into.why_not.empty()) into.why_not = why;
}

// Those that were asked for and are there, or else the first one that any point has.
std::vector<std::string> names_of_metrics(const curve_options& o, const std::vector<point_metrics>& all,
                                          bench::report& report) {
  std::vector<std::string> known;
  for (const point_metrics& p : all)
    for (const auto& m : p.metrics)
      if (std::ranges::find(known, m.name) == known.end()) known.push_back(m.name);
  if (known.empty()) return {};
  if (o.metrics.empty()) return {known.front()};
  std::vector<std::string> shown;
  for (const std::string& name : o.metrics) {
    if (std::ranges::find(known, name) != known.end())
      shown.push_back(name);
    else
      report.check(fmt::format("metric {}", name), false,
                   fmt::format("was not measured; these were: {}", fmt::join(known, ", ")));
  }
  return shown;
}

int run_curve(const curve_options& o) {
  std::vector<tune::parameter> parameters;
  for (const std::string& one : o.axes) parameters.push_back(tune::parse_axis(one));
  const tune::space s(std::move(parameters), {});
  if (s.size() > k_most_points)
    throw error(errc::invalid_argument, fmt::format("{} points are too many; give wider steps", s.size()));
  const std::vector<std::string> command = measuring_command(o);
  bench::require_writable(o.picture, "the picture");

  std::string title = o.name;
  for (const std::string& word : o.rest) title += " " + word;
  bench::measuring_options writing;
  writing.json = o.json;
  writing.repeat = static_cast<int>(o.repeats);
  writing.seconds = 0;
  bench::report report(fmt::format("shoal bench curve: {}", title));
  for (const std::string& one : o.axes) report.parameter(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
  report.begin(writing);

  // Repetitions are the outer loop, so that a disturbance affects all points.
  std::vector<point_metrics> all(s.size());
  bench::progress line(s.size() * o.repeats);
  std::size_t done = 0;
  for (unsigned repeat = 0; repeat < o.repeats; ++repeat)
    for (std::uint64_t i = 0; i < s.size(); ++i) {
      const tune::point p = s.at(i);
      line.show(done++, s.describe(p));
      if (all[i].why_not.empty()) run_point(all[i], tune::measuring_command_at(s, p, command), o.limit_seconds);
    }
  line.clear();

  std::vector<tune::curve_panel> panels;
  std::map<tune::point, std::string> failed;
  for (const std::string& name : names_of_metrics(o, all, report)) panels.push_back({name, {}, {}});
  for (std::uint64_t i = 0; i < s.size(); ++i) {
    const tune::point p = s.at(i);
    for (tune::curve_panel& panel : panels) {
      const tune::measured_metric* const m = all[i].find(panel.metric);
      if (m == nullptr) continue;
      panel.unit = m->unit;
      const bench::metric values{m->name, m->unit, m->values};
      panel.values[p] = {values.median(), values.min(), values.max()};
      for (const double v : m->values) report.record(fmt::format("{} at {}", m->name, s.describe(p)), m->unit, v);
    }
    if (all[i].why_not.empty()) continue;
    failed[p] = all[i].why_not;
    report.check(s.describe(p), false, all[i].why_not);
  }
  report.check("points", failed.size() < s.size(),
               fmt::format("{} of {} measured", s.size() - failed.size(), s.size()));
  if (!o.picture.empty() && !panels.empty())
    runtime::write_whole_file(o.picture, "the picture", tune::curve_picture(s, panels, failed, title));
  return report.finish(writing);
}

}  // namespace

subcommand_body declare_curve(CLI::App& app) {
  auto o = std::make_shared<curve_options>();
  app.add_option("name", o->name, "a benchmark, or a kernel such as bfs")->required()->type_name("NAME");
  app.add_option(
         "--over", o->axes,
         "an option of it, and its values: nodes=2:64:x2, tasks=10:50:+10, workers=1,2,4; a name in capitals is a "
         "variable of the environment. The first goes to the right, each value of further ones is a curve")
      ->required()
      ->expected(1)
      ->allow_extra_args(false)  // `--` ends the options of this command
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=VALUES");
  app.add_option("--metric", o->metrics, "what to show; may be repeated; default: the first that it measures")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("METRIC");
  app.add_option("--repeats", o->repeats, "how often the command runs at each point (medians are shown)")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  app.add_option("--limit", o->limit_seconds, "a run that takes longer has failed; 0: no limit")
      ->check(bench::real_range(0.0, 1e6))
      ->capture_default_str()
      ->type_name("SECONDS");
  app.add_option("--picture", o->picture, "draw the curves (SVG)")->type_name("FILE");
  app.add_option("--json", o->json, "write the result as one JSON object; -: standard output")->type_name("FILE|-");
  app.add_option("options", o->rest, "other options of it, after --")->type_name("OPTIONS");
  return [o] { return run_curve(*o); };
}

}  // namespace shoal::tools
