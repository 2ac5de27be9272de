// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/machine_facts.hpp"
#include "bench/real_range.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

using ordered_json = nlohmann::ordered_json;

std::string plain(const parameter_value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

// Formats any measured value with four significant digits and without an exponent.
std::string figure(double value) {
  if (!std::isfinite(value)) return "-";
  double size = std::fabs(value);
  if (size >= 1000 || size == 0) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  if (size >= 0.01) return fmt::format("{:.3f}", value);
  return fmt::format("{:.3g}", value);
}

// JSON has no NaN or infinity.
ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

[[noreturn]] void refuse_path(const std::string& path, std::string_view what) {
  throw error(errc::system, fmt::format("cannot write {} to '{}'; choose a file in a writable folder", what, path));
}

}  // namespace

void require_writable(const std::string& path, std::string_view what) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return;
  std::error_code none;
  const fs::file_status there = fs::status(path, none);
  // Does not open a device or a pipe: the reader of a pipe would take the attempt for the whole result.
  if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there)) return;
  if (!std::ofstream(path, std::ios::app)) refuse_path(path, what);
  if (!fs::exists(there)) fs::remove(path, none);
}

double metric::median() const {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double metric::min() const {
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::min_element(values.begin(), values.end());
}

double metric::max() const {
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::max_element(values.begin(), values.end());
}

void add_measuring_options(CLI::App& app, measuring_options& options) {
  app.add_option("--repeat", options.repeat, "number of measurements of each value (medians are reported)")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  app.add_option("--seconds", options.seconds, "length of one measurement")
      ->capture_default_str()
      ->check(real_range(0.001, 86400.0));
  app.add_option("--json", options.json, "write the result as one JSON object; -: standard output")
      ->type_name("FILE|-");
}

report::report(std::string title, std::vector<std::string> command)
    : title_(std::move(title)), command_(std::move(command)) {}

void report::parameter(std::string name, parameter_value value) {
  auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.first == name; });
  if (found != parameters_.end()) {
    found->second = std::move(value);
  } else {
    parameters_.emplace_back(std::move(name), std::move(value));
  }
}

void report::record(std::string_view name, std::string_view unit, double value) {
  auto found = std::find_if(metrics_.begin(), metrics_.end(), [&](const metric& m) { return m.name == name; });
  if (found == metrics_.end()) {
    metrics_.push_back({std::string(name), std::string(unit), {value}});
  } else {
    found->values.push_back(value);
  }
}

void report::check(std::string_view name, bool passed, std::string_view text) {
  auto found = std::find_if(checks_.begin(), checks_.end(), [&](const check_result& c) { return c.name == name; });
  if (found == checks_.end()) {
    checks_.push_back({std::string(name), passed, std::string(text)});
  } else if (found->passed) {
    found->passed = passed;
    found->text = text;
  }
}

const metric* report::find_metric(std::string_view name) const {
  auto found = std::find_if(metrics_.begin(), metrics_.end(), [&](const metric& m) { return m.name == name; });
  return found == metrics_.end() ? nullptr : &*found;
}

bool report::passed() const {
  return std::all_of(checks_.begin(), checks_.end(), [](const check_result& c) { return c.passed; });
}

std::string report::parameters_text() const {
  std::size_t width = 0;
  for (const auto& [name, value] : parameters_) width = std::max(width, name.size());
  std::string text = title_ + "\n";
  for (const auto& [name, value] : parameters_) text += fmt::format("  {:<{}}  {}\n", name, width, plain(value));
  return text;
}

std::string report::table_text() const {
  std::size_t width = 6;
  for (const metric& m : metrics_) width = std::max(width, m.name.size());
  std::string text;
  if (!metrics_.empty()) {
    text += fmt::format("{:<{}}  {:>10} {:>10} {:>10}  {}\n", "", width, "median", "min", "max", "unit");
  }
  for (const metric& m : metrics_) {
    text += fmt::format("{:<{}}  {:>10} {:>10} {:>10}  {}\n", m.name, width, figure(m.median()), figure(m.min()),
                        figure(m.max()), m.unit);
  }
  for (const check_result& c : checks_) {
    text += fmt::format("check {}: {}{}\n", c.name, c.passed ? "ok" : "FAILED", c.text.empty() ? "" : ", " + c.text);
  }
  return text;
}

std::string report::json_text() const {
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : parameters_) {
    std::visit([&, key = name](const auto& v) { parameters[key] = v; }, value);
  }
  ordered_json machine = ordered_json::object();
  machine_facts facts = read_machine_facts();
  machine["cpu"] = facts.cpu_model;
  machine["cores"] = facts.cores;
  machine["memory_bytes"] = facts.memory_bytes;
  machine["kernel"] = facts.kernel;
  machine["pages"] = {
      {"anonymous", facts.huge_pages}, {"shared", facts.shared_huge_pages}, {"reserved_2m", facts.reserved_huge_pages}};
  ordered_json metrics = ordered_json::object();
  for (const metric& m : metrics_) {
    ordered_json values = ordered_json::array();
    for (double value : m.values) values.push_back(number(value));
    metrics[m.name] = {{"unit", m.unit},
                       {"values", values},
                       {"median", number(m.median())},
                       {"min", number(m.min())},
                       {"max", number(m.max())}};
  }
  ordered_json checks = ordered_json::object();
  for (const check_result& c : checks_) checks[c.name] = c.passed;
  ordered_json object = {{"shoal", SHOAL_VERSION}, {"command", command_}, {"parameters", parameters},
                         {"machine", machine},     {"metrics", metrics},  {"checks", checks}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void report::begin(const measuring_options& options) {
  require_writable(options.json, "the result");
  if (options.repeat > 0) parameter("repeat", options.repeat);
  if (options.seconds > 0) parameter("seconds", options.seconds);
  std::FILE* out = options.json == "-" ? stderr : stdout;
  fmt::print(out, "{}", parameters_text());
  std::fflush(out);
}

int report::finish(const measuring_options& options) const {
  fmt::print(options.json == "-" ? stderr : stdout, "{}", table_text());
  if (options.json == "-") {
    fmt::print(stdout, "{}", json_text());
  } else if (!options.json.empty()) {
    std::ofstream file(options.json, std::ios::trunc);
    file << json_text();
    file.close();
    if (!file) refuse_path(options.json, "the result");
  }
  std::fflush(stdout);
  return passed() ? 0 : 1;
}

std::vector<std::string> report::process_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

}  // namespace shoal::bench
