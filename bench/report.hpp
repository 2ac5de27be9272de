// SPDX-License-Identifier: Apache-2.0
// What a measuring command reports: parameters, metrics (name, unit, values; median, min, max) and checks. Every
// benchmark and every kernel's subcommand uses it, so that all print alike and write the same JSON object.
// Order of use: parameter()..., begin() prints them (and refuses a --json that cannot be written), record() and check()
// while measuring, finish() prints the table, writes --json and returns the exit status: 0, or 1 when a check failed.
// Metrics keep the order of first recording. With `--json -` standard output holds the object alone and the text goes
// to standard error. Who may call: one thread, outside tasks. Throws shoal::error when the JSON file cannot be written.
// Shown by tests/unit/bench/report_test.cpp.
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
  int repeat = 5;         // how often each value is measured
  double seconds = 0.25;  // how long one measurement runs
  std::string json;       // empty: none; "-": standard output
};

/// Refuses a path that cannot be written, before the work whose result (`what`) is to go there; empty and "-" are
/// right. Leaves what lies there as it is. Throws shoal::error.
void require_writable(const std::string& path, std::string_view what);

/// Registers --repeat, --seconds and --json with the defaults found in `options`.
void add_measuring_options(CLI::App& app, measuring_options& options);

struct metric {
  std::string name;
  std::string unit;
  std::vector<double> values;

  double median() const;  // of an even number of values: the mean of the two in the middle; of none: NaN
  double min() const;
  double max() const;
};

struct check_result {
  std::string name;
  bool passed = true;
  std::string text;  // what was compared; of a check made several times, the first failure's
};

using parameter_value = std::variant<bool, std::int64_t, double, std::string>;

class report {
public:
  explicit report(std::string title, std::vector<std::string> command = process_arguments());

  /// A name given again replaces its value.
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
  /// A check made several times under one name holds only if it held each time.
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

  /// argv of this process as the kernel keeps it.
  static std::vector<std::string> process_arguments();

private:
  std::string title_;
  std::vector<std::string> command_;
  std::vector<std::pair<std::string, parameter_value>> parameters_;
  std::vector<metric> metrics_;
  std::vector<check_result> checks_;
};

}  // namespace shoal::bench
