// SPDX-License-Identifier: Apache-2.0
// One run of the tuned program at a point, and the figure that it gives: its time, a number that it prints, or a metric
// of the JSON object that Shoal's measuring commands print.
// Who may call: one thread; blocks while the program runs. Errors: shoal::error for a command that cannot be started, a
// figure that is not there, and parameters that the command does not use. Test: tests/unit/tune/trial_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/space.hpp"

namespace shoal::tune {

struct figure {
  enum class kind : std::uint8_t { time, pattern, json };
  kind is = kind::time;
  std::string text;  // of a pattern: a regular expression whose first group is the number; of json: the metric's name
  bool smaller_is_better = true;
};
/// "time", "json:NAME" or a regular expression with a group. Larger figures are better, but of time.
figure parse_figure(const std::string& text);

/// The figure in what a program has printed; empty: it is not there.
std::optional<double> find_figure(const figure& f, const std::string& output);

struct command_line {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// Throws errc::invalid_argument for a parameter that the command does not name, and a name in braces that is no parameter.
void check_command(const space& s, const std::vector<std::string>& command);
command_line command_at(const space& s, const point& p, const std::vector<std::string>& command);

/// A run to its end.
struct program_end {
  std::string output;
  std::string errors;    // what it has written to standard error
  std::string why_not;   // one line; empty: it has ended with status 0
  bool stopped = false;  // it took longer than the limit
  bool interrupted = false;
  double seconds = 0;
};
/// `limit_seconds` 0: none. The program's end is not an error; that it cannot be started is. It is also ended when the
/// descriptor `interruption` becomes readable, as that of machine::interruption; -1: none.
program_end run_program(const command_line& c, double limit_seconds, int interruption = -1);

struct trial_end {
  std::optional<double> value;
  std::string why_not;       // one line
  bool stopped = false;      // it took longer than the limit; of time, `value` is the limit
  std::string errors = {};   // what it has written to standard error
  bool interrupted = false;  // says nothing about the point
};
/// `limit_seconds` 0 or infinite: none; `interruption` as above.
trial_end run_trial(const command_line& c, const figure& f, double limit_seconds, int interruption = -1);

}  // namespace shoal::tune
