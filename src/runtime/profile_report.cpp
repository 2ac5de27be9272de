// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>

#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_profile_table[] = {
    {.name = "profile",
     .type = setting_type::boolean,
     .default_value = "off",
     .help = "at the end each node prints where the time of its workers went, to standard error"},
    {.name = "profile_json",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "the profile as a JSON object, in this file; of several nodes with .0, .1, ... before the last dot; implies "
         "profile"},
    {.name = "profile_picture",
     .type = setting_type::text,
     .default_value = "",
     .help = "the profile as a drawing (SVG), in this file; named as profile_json is; implies profile"},
    {.name = "profile_interval_ms",
     .type = setting_type::real,
     .default_value = "5",
     .help = "how often a profile looks at what runs; 0: never",
     .min = "0",
     .max = "60000"},
    {.name = "profile_serial_seconds",
     .type = setting_type::real,
     .default_value = "0",
     .help =
         "what the same work takes without tasks, measured before: what tasks take longer is shown as inflation (one "
         "node); 0: not known",
     .min = "0"},
};

// Files are the whole process's: which of them profiles of it have.
std::string claim(const std::string& name) {
  static std::mutex guard;
  static std::set<std::string> taken;
  if (name.empty()) return name;
  const std::lock_guard hold(guard);
  std::string mine = name;
  for (std::uint64_t number = 2; !taken.insert(mine).second; ++number) mine = numbered_file(name, number);
  return mine;
}

}  // namespace

void write_whole_file(const std::string& name, std::string_view what, const std::string& text) {
  std::ofstream file(name, std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw error(errc::system, fmt::format("cannot write {} to '{}'; choose a file in a writable folder", what, name));
}

const base::setting_table k_profile_settings{"runtime", k_profile_table};

profile_wish read_profile_wish(const base::settings& s) {
  profile_wish w;
  w.json = s.get_text("profile_json");
  w.picture = s.get_text("profile_picture");
  w.on = s.get_bool("profile") || !w.json.empty() || !w.picture.empty();
  w.interval_seconds = s.get_real("profile_interval_ms") * 1e-3;
  w.serial_seconds = s.get_real("profile_serial_seconds");
  w.trace = read_trace_wish(s);
  return w;
}

profile_options profile_wish::options(std::uint32_t nodes) const {
  profile_options o;
  o.interval_seconds = interval_seconds;
  if (serial_seconds > 0 && nodes == 1) o.serial_seconds = serial_seconds;
  return o;
}

std::string numbered_file(const std::string& name, std::uint64_t number) {
  const auto slash = name.rfind('/');
  const auto dot = name.rfind('.');
  const auto begin = slash == std::string::npos ? 0 : slash + 1;
  const auto at = dot == std::string::npos || dot <= begin ? name.size() : dot;
  return fmt::format("{}.{}{}", name.substr(0, at), number, name.substr(at));
}

std::string profile_file(const std::string& name, std::uint32_t node, std::uint32_t nodes) {
  return name.empty() || nodes == 1 ? name : numbered_file(name, node);
}

profile_files claim_profile_files(const profile_wish& wish, std::uint32_t node, std::uint32_t nodes) {
  profile_files files{claim(profile_file(wish.json, node, nodes)), claim(profile_file(wish.picture, node, nodes))};
  for (const std::string& name : {files.json, files.picture})
    if (!name.empty()) write_whole_file(name, "the profile", "");
  return files;
}

void report_profile(const profile& p, const profile_files& files, std::uint32_t node, std::uint32_t nodes) {
  const std::string text = (nodes > 1 ? fmt::format("node {}: ", node) : std::string()) + profile_table(p);
  std::fwrite(text.data(), 1, text.size(), stderr);  // at once: other nodes write theirs
  if (!files.json.empty()) write_whole_file(files.json, "the profile", profile_json(p));
  if (!files.picture.empty()) write_whole_file(files.picture, "the profile", profile_picture(p));
}

}  // namespace shoal::runtime
