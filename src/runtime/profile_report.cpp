// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

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

}  // namespace

profile_options profile_wish::options(std::uint32_t nodes) const {
  profile_options o;
  o.interval_seconds = interval_seconds;
  if (serial_seconds > 0 && nodes == 1) o.serial_seconds = serial_seconds;
  return o;
}

std::string profile_file(const std::string& name, std::uint32_t node, std::uint32_t nodes) {
  if (name.empty() || nodes == 1) return name;
  const auto slash = name.rfind('/');
  const auto dot = name.rfind('.');
  const auto begin = slash == std::string::npos ? 0 : slash + 1;
  const auto at = dot == std::string::npos || dot <= begin ? name.size() : dot;
  return fmt::format("{}.{}{}", name.substr(0, at), node, name.substr(at));
}

void check_profile_files(const profile_wish& wish, std::uint32_t node, std::uint32_t nodes) {
  write_file(profile_file(wish.json, node, nodes), "");
  write_file(profile_file(wish.picture, node, nodes), "");
}

void report_profile(const profile& p, const profile_wish& wish, std::uint32_t node, std::uint32_t nodes) {
  const std::string text = (nodes > 1 ? fmt::format("node {}: ", node) : std::string()) + profile_table(p);
  std::fwrite(text.data(), 1, text.size(), stderr);  // at once: other nodes write theirs
  if (!wish.json.empty()) write_file(profile_file(wish.json, node, nodes), profile_json(p));
  if (!wish.picture.empty()) write_file(profile_file(wish.picture, node, nodes), profile_picture(p));
}

}  // namespace shoal::runtime
