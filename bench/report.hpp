// SPDX-License-Identifier: Apache-2.0
// The report of a measuring command: parameters, metrics (name, unit, values; median, min, max) and checks. All
// benchmarks and kernels use it, so that tables and JSON objects have the same form.
// Order of use: parameter()..., begin() prints them (and throws if the --json file cannot be written), record() and
// check() while measuring, finish() prints the table, writes --json and returns the exit status: 0, or 1 if a check
// failed.
// Metrics keep the order of first recording. With `--json -` standard output contains only the object, and the text
// goes to standard error.
// Who may call: one thread, outside tasks. Throws shoal::error if the JSON file cannot be written. Test:
// tests/unit/bench/report_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

/// The options that every measuring command takes.
struct measuring_options {
  int repeat = 5;         // number of measurements of each value; 0: not a parameter
  double seconds = 0.25;  // duration of one measurement; 0: not a parameter
  std::string json;       // empty: none; "-": standard output
};

/// Throws shoal::error if the file for the result `what` cannot be written; empty and "-" are valid. Does not change an
/// existing file.
void require_writable(const std::string& path, std::string_view what);

/// Registers --repeat, --seconds and --json; `options` contains the defaults.
void add_measuring_options(CLI::App& app, measuring_options& options);

struct metric {
  std::string name;
  std::string unit;
  std::vector<double> values;

  double median() const;  // even number of values: the mean of the middle two; no values: NaN
  double min() const;
  double max() const;
};

struct check_result {
  std::string name;
  bool passed = true;
  std::string text;  // the compared values; of a repeated check, those of the first failure
};

using parameter_value = std::variant<bool, std::int64_t, double, std::string>;

class report {
public:
  explicit report(std::string title, std::vector<std::string> command = process_arguments());

  /// A repeated name replaces its value.
  void parameter(std::string name, parameter_value value);
  /// Any number, truth value or text.
  template <class T>
  requires(!std::same_as<T, parameter_value>) void parameter(std::string name, const T& value) {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      parameter(std::move(name), parameter_value(static_cast<std::int64_t>(value)));
    } else if constexpr (std::convertible_to<T, std::string_view>) {
      parameter(std::move(name), parameter_value(std::string(std::string_view(value))));
    } else {
      parameter(std::move(name), parameter_value(value));
    }
  }
  void record(std::string_view name, std::string_view unit, double value);
  /// A check that is repeated with the same name passes only if it passes each time.
  void check(std::string_view name, bool passed, std::string_view text);

  const metric* find_metric(std::string_view name) const;
  const std::vector<metric>& metrics() const { return metrics_; }
  const std::vector<check_result>& checks() const { return checks_; }
  bool passed() const;

  void begin(const measuring_options& options);
  int finish(const measuring_options& options) const;

  std::string parameters_text() const;
  std::string table_text() const;
  std::string json_text() const;

  /// argv of this process, read from the kernel.
  static std::vector<std::string> process_arguments();

private:
  std::string title_;
  std::vector<std::string> command_;
  std::vector<std::pair<std::string, parameter_value>> parameters_;
  std::vector<metric> metrics_;
  std::vector<check_result> checks_;
};

}  // namespace shoal::bench
