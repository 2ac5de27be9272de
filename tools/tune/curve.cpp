// SPDX-License-Identifier: Apache-2.0
#include "tune/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

using ordered = nlohmann::ordered_json;

// Other text may be printed before the object.
ordered object_in(const std::string& output) {
  for (std::size_t at = output.find('{'); at != std::string::npos; at = output.find('{', at + 1)) {
    auto object = ordered::parse(output.begin() + static_cast<std::ptrdiff_t>(at), output.end(), nullptr, false);
    if (object.is_object()) return object;
  }
  return {};
}

}  // namespace

parameter parse_axis(const std::string& text) {
  parameter p = parse_parameter(text);
  const auto of_a_variable = [](char c) { return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0; };
  if (p.name.size() > 1 && of_a_variable(p.name[0]) && of_a_variable(p.name[1])) p.kind = parameter_kind::environment;
  return p;
}

command_line measuring_command_at(const space& s, const point& p, std::vector<std::string> command) {
  command_line c;
  c.arguments = std::move(command);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const parameter& one = s.parameters()[i];
    const std::string& value = one.values[p[i]];
    if (one.kind == parameter_kind::environment) {
      c.environment.push_back(one.name + "=" + value);
    } else {
      c.arguments.push_back((one.name.size() == 1 ? "-" : "--") + one.name);
      c.arguments.push_back(value);
    }
  }
  c.arguments.insert(c.arguments.end(), {"--json", "-"});
  return c;
}

std::vector<measured_metric> find_metrics(const std::string& output) {
  const ordered object = object_in(output);
  std::vector<measured_metric> found;
  if (!object.is_object() || !object.contains("metrics") || !object["metrics"].is_object()) return found;
  if (object.contains("checks") && object["checks"].is_object())
    for (const auto& [name, passed] : object["checks"].items())
      if (passed.is_boolean() && !passed.get<bool>())
        throw error(errc::bad_input, fmt::format("its check {} has failed", name));
  for (const auto& [name, metric] : object["metrics"].items()) {
    measured_metric m{name, {}, {}};
    if (!metric.is_object() || !metric.contains("values") || !metric["values"].is_array()) continue;
    if (metric.contains("unit") && metric["unit"].is_string()) m.unit = metric["unit"].get<std::string>();
    for (const auto& value : metric["values"])
      if (value.is_number()) m.values.push_back(value.get<double>());
    if (!m.values.empty()) found.push_back(std::move(m));
  }
  return found;
}

}  // namespace shoal::tune
