// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "shoal/profile_result.hpp"
#include "trace/profile_rows.hpp"

namespace shoal {
namespace {

// JSON has no infinity.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string("null"); }
std::string number(const std::optional<double>& value) { return value ? number(*value) : std::string("null"); }

std::string worker_object(const profile_worker& w, std::string_view indent) {
  std::string text = fmt::format(
      "{{\n{0}  \"seconds\": {1}, \"work_seconds\": {2}, \"scheduling_seconds\": {3}, \"idle_seconds\": {4},\n"
      "{0}  \"tasks\": {5}, \"waits\": {6}, \"served\": {7}",
      indent, number(w.seconds()), number(w.work_seconds), number(w.scheduling_seconds()), number(w.idle_seconds()),
      w.begun, w.left, w.served);
  for (const auto& row : trace::k_profile_rows) {
    const profile_entry& e = w.*row.entry;
    text +=
        fmt::format(",\n{}  \"{}\": {{\"count\": {}, \"seconds\": {}}}", indent, row.name, e.count, number(e.seconds));
  }
  text += fmt::format(",\n{}  \"attempts\": {{", indent);
  for (std::size_t d = 0; d < w.attempts.size(); ++d)
    text += fmt::format("{}\"{}\": {{\"won\": {}, \"lost\": {}, \"empty\": {}}}", d == 0 ? "" : ", ",
                        trace::k_distance_names[d], w.attempts[d].won, w.attempts[d].lost, w.attempts[d].empty);
  return text + fmt::format("}}\n{}}}", indent);
}

}  // namespace

std::string profile_json(const profile& p) {
  std::string text = fmt::format(
      "{{\n  \"shoal\": \"{}\",\n  \"wall_seconds\": {},\n  \"serial_seconds\": {},\n  \"inflation_seconds\": {},\n"
      "  \"total\": {},\n  \"workers\": [",
      SHOAL_VERSION, number(p.wall_seconds), number(p.serial_seconds), number(p.inflation_seconds()),
      worker_object(p.total(), "  "));
  for (std::size_t i = 0; i < p.workers.size(); ++i) text += (i == 0 ? "" : ", ") + worker_object(p.workers[i], "  ");
  text += fmt::format("],\n  \"transport\": \"{}\",\n  \"registrations\": {},\n  \"registered_bytes\": {}", p.transport,
                      p.registrations, p.registered_bytes);
  text += fmt::format(",\n  \"interval_seconds\": {},\n  \"running\": [{}],\n  \"offered\": [{}]\n}}\n",
                      number(p.interval_seconds), fmt::join(p.running, ", "), fmt::join(p.offered, ", "));
  return text;
}

}  // namespace shoal
