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

void write_file(const std::string& name, const std::string& text) {
  if (name.empty()) return;
  std::ofstream file(name, std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw error(errc::system,
                fmt::format("cannot write the profile to '{}'; choose a file in a writable folder", name));
}

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
  write_file(files.json, "");
  write_file(files.picture, "");
  return files;
}

void report_profile(const profile& p, const profile_files& files, std::uint32_t node, std::uint32_t nodes) {
  const std::string text = (nodes > 1 ? fmt::format("node {}: ", node) : std::string()) + profile_table(p);
  std::fwrite(text.data(), 1, text.size(), stderr);  // at once: other nodes write theirs
  if (!files.json.empty()) write_file(files.json, profile_json(p));
  if (!files.picture.empty()) write_file(files.picture, profile_picture(p));
}

}  // namespace shoal::runtime
