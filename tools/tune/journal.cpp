// SPDX-License-Identifier: Apache-2.0
#include "tune/journal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

using nlohmann::json;

json head_of(const space& s, const std::vector<std::string>& command, const std::string& figure) {
  json parameters = json::object();
  for (const parameter& p : s.parameters()) parameters[p.name] = p.values;
  return {{"tune", 1}, {"command", command}, {"figure", figure}, {"parameters", parameters}};
}

std::optional<point> point_of(const space& s, const json& named) {
  point p;
  for (const parameter& one : s.parameters()) {
    if (!named.contains(one.name) || !named[one.name].is_string()) return std::nullopt;
    const auto at = std::ranges::find(one.values, named[one.name].get<std::string>());
    if (at == one.values.end()) return std::nullopt;
    p.push_back(static_cast<std::uint32_t>(at - one.values.begin()));
  }
  return p;
}

}  // namespace

journal::journal(const std::string& path, const space& s, const std::vector<std::string>& command,
                 const std::string& figure)
    : space_(s), path_(path) {
  const json head = head_of(s, command, figure);
  std::ifstream before(path);
  std::uintmax_t whole_bytes = 0;
  std::string line;
  if (before && std::getline(before, line)) {
    if (json::parse(line, nullptr, false) != head)
      throw error(errc::mismatch,
                  fmt::format("{} has the runs of another search; give another file to --resume", path));
    whole_bytes = line.size() + 1;
    while (std::getline(before, line) && !before.eof()) {
      const json run = json::parse(line, nullptr, false);
      const auto p = run.is_object() && run.contains("point") ? point_of(s, run["point"]) : std::nullopt;
      if (!p) throw error(errc::bad_input, fmt::format("{}, line {}: this is no run", path, known_ + 2));
      trial_end e;
      if (run.contains("value") && run["value"].is_number()) e.value = run["value"].get<double>();
      e.why_not = run.value("why", "");
      e.stopped = run.value("stopped", false);
      runs_[*p].push_back(std::move(e));
      ++known_;
      whole_bytes += line.size() + 1;
    }
    before.close();
    std::filesystem::resize_file(path, whole_bytes);  // a line that was not finished goes
  }
  file_.open(path, std::ios::app);
  if (whole_bytes == 0) file_ << head.dump() << '\n' << std::flush;
  if (!file_) throw error(errc::system, fmt::format("the file of runs {} cannot be written", path));
}

std::optional<trial_end> journal::take(const point& p) {
  const auto at = runs_.find(p);
  if (at == runs_.end() || at->second.empty()) return std::nullopt;
  trial_end e = std::move(at->second.front());
  at->second.pop_front();
  return e;
}

void journal::add(const point& p, const trial_end& e) {
  json named = json::object();
  for (std::size_t i = 0; i < p.size(); ++i) named[space_.parameters()[i].name] = space_.parameters()[i].values[p[i]];
  json run = {{"point", named}};
  if (e.value) run["value"] = *e.value;
  if (!e.why_not.empty()) run["why"] = e.why_not;
  if (e.stopped) run["stopped"] = true;
  file_ << run.dump() << '\n' << std::flush;
  if (!file_) throw error(errc::system, fmt::format("the file of runs {} cannot be written", path_));
}

}  // namespace shoal::tune
