// SPDX-License-Identifier: Apache-2.0
#include "runtime/tuned_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "machine/process.hpp"
#include "machine/socket.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

// "name = value" or, of what is kept as it is, a remark above it.
std::string_view name_of_line(std::string_view line) {
  const std::size_t end = line.find_first_of(" =");
  return end == std::string_view::npos || line.starts_with('#') ? std::string_view() : line.substr(0, end);
}

}  // namespace

std::string tuned_file() {
  if (const char* const path = std::getenv("SHOAL_TUNED"); path != nullptr) return path;
  std::filesystem::path folder;
  if (const char* const configurations = std::getenv("XDG_CONFIG_HOME");
      configurations != nullptr && *configurations != 0) {
    folder = configurations;
  } else if (const char* const home = std::getenv("HOME"); home != nullptr && *home != 0) {
    folder = std::filesystem::path(home) / ".config";
  } else {
    return {};
  }
  return (folder / "shoal" / fmt::format("tuned-{}.toml", machine::host_name())).string();
}

void save_tuned(const std::string& path, const std::vector<std::pair<std::string, std::string>>& settings,
                const std::string& remark) {
  if (path.empty())
    throw error(errc::not_found, "there is no place for tuned settings: HOME is not set; set SHOAL_TUNED to a file");
  std::string text;
  std::ifstream before(path);
  std::string remarks;  // they go with the setting below them
  for (std::string line; std::getline(before, line);) {
    const std::string_view name = name_of_line(line);
    if (name.empty()) {
      remarks += line + "\n";
      continue;
    }
    const bool is_replaced = std::ranges::any_of(settings, [&](const auto& s) { return s.first == name; });
    if (!is_replaced) text += remarks + line + "\n";
    remarks.clear();
  }
  before.close();
  for (const auto& [name, value] : settings) text += fmt::format("# {}\n{} = {}\n", remark, name, value);
  std::error_code failed;
  const std::filesystem::path target(path);
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), failed);
  // Others may read it meanwhile.
  const std::string part = fmt::format("{}.{}", path, machine::own_pid());
  std::ofstream file(part, std::ios::trunc);
  file << text;
  file.close();
  if (file) std::filesystem::rename(part, path, failed);
  if (!file || failed) {
    std::filesystem::remove(part, failed);
    throw error(errc::system,
                fmt::format("the tuned settings {} cannot be written; set SHOAL_TUNED to another file", path));
  }
}

}  // namespace shoal::runtime
