// SPDX-License-Identifier: Apache-2.0
// shoal tune: finds good values for the parameters of a program, and for Shoal's own settings, by running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/settings.hpp"
#include "bench/progress.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "launch/remote_script.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"
#include "runtime/config.hpp"
#include "runtime/profile_report.hpp"
#include "runtime/tuned_file.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"
#include "tune/journal.hpp"
#include "tune/outcome.hpp"
#include "tune/search.hpp"
#include "tune/trial.hpp"

namespace shoal::tools {
namespace {

struct tune_options {
  std::vector<std::string> parameters;
  std::vector<std::string> settings;
  std::vector<std::string> variables;
  std::vector<std::string> constraints;
  std::string metric = "time";
  bool maximize = false;
  bool minimize = false;
  std::string method = "auto";
  std::uint64_t runs = 100;
  unsigned repeats = 5;
  double minutes = 0;
  double run_seconds = 0;
  std::uint64_t seed = 1;
  std::string resume;
  std::string picture;
  std::vector<std::string> axes;
  std::string toml;
  bool save = false;
  std::string json;
  std::vector<std::string> program;
};

tune::space space_of(const tune_options& o) {
  std::vector<tune::parameter> parameters;
  for (const std::string& one : o.parameters)
    parameters.push_back(tune::parse_parameter(one, tune::parameter_kind::argument));
  for (const std::string& one : o.settings) {
    parameters.push_back(tune::parse_parameter(one, tune::parameter_kind::setting));
    for (const std::string& value : parameters.back().values) {
      base::settings judged = runtime::all_settings();
      judged.set(parameters.back().name, value, base::setting_origin::command_line);
      judged.check(false);
    }
  }
  for (const std::string& one : o.variables)
    parameters.push_back(tune::parse_parameter(one, tune::parameter_kind::environment));
  std::vector<tune::expression> constraints(o.constraints.begin(), o.constraints.end());
  return {std::move(parameters), std::move(constraints)};
}

// Runs the program, or takes the run from the file.
class runner {
public:
  runner(const tune::space& s, const tune_options& o, const tune::figure& f, const machine::interruption& stop)
      : space_(s), options_(o), figure_(f), stop_(stop), line_(o.runs) {
    if (!o.resume.empty()) file_.emplace(o.resume, s, o.program, o.metric);
  }

  std::optional<double> operator()(const tune::point& p) {
    if (file_)
      if (const auto known = file_->take(p)) return note(p, *known);
    line_.show(runs_, fmt::format("{}{}", space_.describe(p), best_.empty() ? "" : "; best so far: " + best_));
    const double left = std::max(1e-3, seconds_left());
    const double most = limit();
    auto end = tune::run_trial(tune::command_at(space_, p, options_.program), figure_, std::min(most, left),
                               stop_.descriptor());
    if (end.interrupted || (end.stopped && left <= most)) {  // that says nothing about the point: it is not kept
      is_over_ = true;
      return std::nullopt;
    }
    if (end.stopped && options_.run_seconds > 0 && most >= options_.run_seconds) end.value.reset();
    if (file_) {
      file_->add(p, end);
    } else {
      unkept_.emplace_back(p, end);
    }
    return note(p, end);
  }

  bool goes_on(std::uint64_t runs, const tune::point& best, double value) {
    runs_ = runs;
    best_ = fmt::format("{} ({:.6g})", space_.describe(best), value);
    return !is_over_ && stop_.signal() == 0 && seconds_left() > 0;
  }
  // The file with all runs, to go on later.
  std::string keep() const {
    if (!options_.resume.empty()) return options_.resume;
    std::string path = "shoal-tune.runs";
    for (int n = 2; std::filesystem::exists(path); ++n) path = fmt::format("shoal-tune-{}.runs", n);
    tune::journal file(path, space_, options_.program, options_.metric);
    for (const auto& [point, end] : unkept_) file.add(point, end);
    return path;
  }
  void clear() { line_.clear(); }
  const std::string& first_failure() const noexcept { return first_failure_; }
  std::size_t known() const noexcept { return file_ ? file_->known() : 0; }

private:
  // A run that takes much longer than the fastest so far cannot be the best one.
  double limit() const {
    const double given = options_.run_seconds > 0 ? options_.run_seconds : std::numeric_limits<double>::infinity();
    return figure_.is == tune::figure::kind::time && fastest_ > 0 ? std::min(given, fastest_ * 3 + 0.5) : given;
  }
  double seconds_left() const {
    if (options_.minutes <= 0) return std::numeric_limits<double>::infinity();
    return std::max(0.0, options_.minutes * 60 - static_cast<double>(base::now_ns() - begin_) * 1e-9);
  }
  std::optional<double> note(const tune::point& p, const tune::trial_end& end) {
    if (end.value && !end.stopped && (fastest_ == 0 || *end.value < fastest_)) fastest_ = *end.value;
    if (!end.value && first_failure_.empty())
      first_failure_ = fmt::format("at {}: {}", space_.describe(p), end.why_not);
    return end.value;
  }

  const tune::space& space_;
  const tune_options& options_;
  const tune::figure& figure_;
  const machine::interruption& stop_;
  bench::progress line_;
  std::optional<tune::journal> file_;
  std::vector<std::pair<tune::point, tune::trial_end>> unkept_;  // without a file
  std::uint64_t begin_ = base::now_ns();
  std::uint64_t runs_ = 0;
  std::string best_;
  std::string first_failure_;
  double fastest_ = 0;    // seconds, of time
  bool is_over_ = false;  // a run was stopped at the end of the minutes
};

std::pair<std::size_t, std::size_t> axes_of(const tune::space& s, const std::vector<std::string>& names) {
  const auto place = [&](const std::string& name) {
    const auto at = std::ranges::find(s.parameters(), name, &tune::parameter::name);
    if (at == s.parameters().end())
      throw error(errc::invalid_argument, fmt::format("--axes names {}, which is no parameter", name));
    return static_cast<std::size_t>(at - s.parameters().begin());
  };
  if (!names.empty()) return {place(names[0]), place(names[1])};
  return {0, 1};
}

// This command, with --resume FILE if it does not have it.
std::string command_to_go_on(const tune_options& o, const std::string& file) {
  std::vector<std::string> words = machine::own_command();
  if (o.resume.empty()) {
    const auto name = std::ranges::find(words, "tune");
    words.insert(name == words.end() ? name : name + 1, {"--resume", file});
  }
  return launch::shell_words(words);
}

int run_tune(const tune_options& o) {
  if (o.maximize && o.minimize) throw error(errc::invalid_argument, "give --maximize or --minimize, not both");
  const tune::space s = space_of(o);
  tune::figure f = tune::parse_figure(o.metric);
  if (o.maximize || o.minimize) f.smaller_is_better = o.minimize;
  tune::check_command(s, o.program);
  if (!o.picture.empty() && s.parameters().size() < 2)
    throw error(errc::invalid_argument, "a map needs two parameters; without --picture the table shows one");
  if ((o.save || !o.toml.empty()) && o.settings.empty())
    throw error(errc::invalid_argument, "only settings can be kept: give --setting NAME=VALUES");
  const auto [x, y] = axes_of(s, o.axes);
  for (const std::string& file : {o.picture, o.toml}) bench::require_writable(file, "the result");

  bench::measuring_options writing;
  writing.json = o.json;
  writing.repeat = static_cast<int>(o.repeats);
  writing.seconds = std::round(o.minutes * 60e3) / 1e3;
  bench::report report("shoal tune: the best parameters of a program");
  report.parameter("points", std::to_string(s.size()));
  report.parameter("figure", fmt::format("{}, {} is better", o.metric, f.smaller_is_better ? "less" : "more"));
  report.parameter("runs", o.runs);
  const machine::interruption stop;
  runner runs(s, o, f, stop);
  if (runs.known() > 0) report.parameter("runs of before", runs.known());
  tune::search_request request;
  request.how = *tune::method_of(o.method);
  request.smaller_is_better = f.smaller_is_better;
  request.most_runs = o.runs;
  request.most_repeats = o.repeats;
  request.seed = o.seed;
  request.measure = [&](const tune::point& p) { return runs(p); };
  request.goes_on = [&](std::uint64_t n, const tune::point& best, double value) {
    return runs.goes_on(n, best, value);
  };
  const tune::search_result r = tune::search(s, request);
  runs.clear();
  report.parameter("method", std::string(tune::name_of(r.how)));
  report.begin(writing);

  std::FILE* const out = o.json == "-" ? stderr : stdout;
  const bool is_interrupted = stop.signal() != 0;
  const auto say_how_to_go_on = [&] {
    const std::string file = runs.keep();
    fmt::print(out, "\ninterrupted; the runs so far are in {}. To go on:\n  {}\n", file, command_to_go_on(o, file));
    return machine::exit_status{0, stop.signal()}.shell_code();
  };
  const std::string unit = f.is == tune::figure::kind::time ? "s" : f.is == tune::figure::kind::json ? f.text : "";
  if (is_interrupted && (r.points.empty() || r.points.front().values.empty())) return say_how_to_go_on();
  if (r.points.empty() || (runs.first_failure().empty() && r.points.front().values.empty()))
    throw error(errc::timeout, "no run has ended within --minutes; give more of them");
  if (r.points.front().values.empty())
    throw error(errc::bad_input, fmt::format("the program failed at every point; {}", runs.first_failure()));
  fmt::print(out, "\n{}", tune::outcome_table(s, r, unit));
  if (!runs.first_failure().empty()) fmt::print(out, "first failure, {}\n", runs.first_failure());
  fmt::print(out, "{}; {}\n", base::counted(r.runs, "run"),
             r.complete       ? "the search is complete"
             : is_interrupted ? "more may find more"
                              : "the runs or the minutes were used up: more may find more");
  const tune::point& best = r.points.front().where;
  const bool is_decided = r.doubt.empty();
  fmt::print(out, "\n{}: {}\n", is_decided && !is_interrupted ? "best" : "best so far", s.describe(best));
  if (is_interrupted) return say_how_to_go_on();
  if (!is_decided) fmt::print(out, "undecided: {}; give more --runs or --minutes\n", r.doubt);
  std::string lines;
  const auto settings = tune::settings_at(s, best);
  for (const auto& [name, value] : settings) lines += fmt::format("{} = {}\n", name, value);
  if (!settings.empty()) fmt::print(out, "as lines of shoal.toml:\n\n{}", lines);
  if (!o.toml.empty() && is_decided) runtime::write_whole_file(o.toml, "the settings", lines);
  if (o.save && is_decided) {
    const std::string file = runtime::tuned_file();
    runtime::save_tuned(file, settings,
                        fmt::format("{} {} of: {}", r.points.front().value(), o.metric, fmt::join(o.program, " ")));
    fmt::print(out, "\nkept for this machine in {}\n", file);
  }
  if (!o.picture.empty())
    runtime::write_whole_file(o.picture, "the map", tune::outcome_map(s, r, x, y, f.smaller_is_better, unit));
  for (const double v : r.points.front().values) report.record("best", unit, v);
  for (std::size_t i = 0; i < best.size(); ++i)
    report.parameter("best " + s.parameters()[i].name, s.parameters()[i].values[best[i]]);
  const bool is_wanted = o.save || !o.toml.empty();
  report.parameter("decided", is_decided ? "yes" : "no");
  if (is_wanted) report.check("decided", is_decided, r.doubt);
  const int status = o.json.empty() ? 0 : report.finish(writing);
  if (is_wanted && !is_decided)
    throw error(errc::exhausted, "the settings are not kept, because the search is undecided: " + r.doubt +
                                     "; give more --runs or --minutes");
  return status;
}

}  // namespace

subcommand_body declare_tune(CLI::App& app) {
  auto o = std::make_shared<tune_options>();
  app.add_option("--parameter", o->parameters,
                 "NAME=LOW:HIGH, NAME=LOW:HIGH:STEP, NAME=LOW:HIGH:xFACTOR, or NAME=A,B,C; {NAME} in the "
                 "command stands for the value; may be repeated")
      ->type_name("NAME=VALUES");
  app.add_option("--setting", o->settings, "the same for a setting of Shoal, which the program is given")
      ->type_name("NAME=VALUES");
  app.add_option("--environment", o->variables, "the same for a variable of the environment")->type_name("NAME=VALUES");
  app.add_option("--constraint", o->constraints, "a condition on parameters, as in 'grain * tile <= 65536'")
      ->type_name("CONDITION");
  app.add_option("--metric", o->metric,
                 "time; json:NAME, a metric of the JSON object that the program prints; or a regular expression whose "
                 "first group is the number in what it prints")
      ->capture_default_str();
  app.add_flag("--maximize", o->maximize, "more is better (default, but for time)");
  app.add_flag("--minimize", o->minimize, "less is better (default for time)");
  app.add_option("--method", o->method, "auto: grid for up to 64 points, else model")
      ->check(CLI::IsMember({"auto", "grid", "random", "halving", "model"}))
      ->capture_default_str();
  app.add_option("--runs", o->runs, "most runs of the program")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--repeats", o->repeats, "most repetitions of a point against the best one")
      ->check(CLI::Range(1U, 100U))
      ->capture_default_str();
  app.add_option("--minutes", o->minutes, "end after so many minutes, also within a run; 0: no limit")
      ->check(bench::real_range(0.0, 1e5))
      ->capture_default_str();
  app.add_option("--run-seconds", o->run_seconds, "stop a run that takes longer: it has failed; 0: no limit")
      ->check(bench::real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--seed", o->seed, "of the choices by chance")->capture_default_str();
  app.add_option("--resume", o->resume, "keep the runs in this file, and go on with those that are in it")
      ->type_name("FILE");
  app.add_option("--picture", o->picture, "draw a map of two parameters (SVG)")->type_name("FILE");
  app.add_option("--axes", o->axes, "the map's parameters, across and up (default: the first two)")
      ->expected(2)
      ->delimiter(',');
  app.add_option("--toml", o->toml, "write the best settings as lines of shoal.toml")->type_name("FILE");
  app.add_flag("--save", o->save,
               "keep the best settings for this machine: later jobs take them, and `shoal info` shows it");
  app.add_option("--json", o->json, "write the result as JSON; - is standard output")->type_name("FILE");
  app.add_option("program", o->program, "the program and its arguments, after --")->required();
  app.positionals_at_end();
  return [o] { return run_tune(*o); };
}

}  // namespace shoal::tools
