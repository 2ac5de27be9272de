// SPDX-License-Identifier: Apache-2.0
// A measuring command over a range of its parameters: the command at a point, the metrics in what it prints, and the
// picture. The first parameter goes to the right; each value of a second one is a curve; each metric is a panel.
// Who may call: anyone; nothing is run or written here. Errors: shoal::error. Test: tests/unit/tune/curve_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tune/space.hpp"
#include "tune/trial.hpp"

namespace shoal::tune {

/// "nodes=2:64:x2": the option --nodes, "n=2,4": -n, "SHOAL_BUFFER=4096,65536": that variable of the environment.
parameter parse_axis(const std::string& text);

/// The command with the options and variables of a point, and `--json -`.
command_line measuring_command_at(const space& s, const point& p, std::vector<std::string> command);

struct measured_metric {
  std::string name;
  std::string unit;
  std::vector<double> values;
};
/// In the order in which the JSON object of a measuring command has them; empty: it has printed none. Throws
/// errc::bad_input if a check in it has failed.
std::vector<measured_metric> find_metrics(const std::string& output);

struct curve_value {
  double median = 0;
  double least = 0;
  double most = 0;
};
struct curve_panel {
  std::string metric;
  std::string unit;
  std::map<point, curve_value> values;  // of the points that have one
};
/// SVG. `failed`: points that have no value in any panel, with the reasons.
std::string curve_picture(const space& s, const std::vector<curve_panel>& panels,
                          const std::map<point, std::string>& failed, std::string_view title);

}  // namespace shoal::tune
