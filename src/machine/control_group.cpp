// SPDX-License-Identifier: Apache-2.0
#include "machine/control_group.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace shoal::machine {
namespace {

// Version 1 writes the largest multiple of a page that fits a signed number where it means "no limit".
constexpr std::uint64_t k_version_1_no_limit = std::uint64_t{1} << 62;

bool read_number(const std::string& file, std::uint64_t& value) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return false;
  if (word == "max" || word == "-1") {
    value = k_no_limit;
    return true;
  }
  return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc{};
}

// Sums the named lines of a memory.stat file.
std::uint64_t read_statistics(const std::string& file, std::string_view first, std::string_view second) {
  std::ifstream in(file);
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t sum = 0;
  while (in >> name >> value) {
    if (name == first || name == second) sum += value;
  }
  return sum;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

struct hierarchy {
  int version = 0;
  std::vector<std::string> groups;  // directories, the process's own first
};

// The path of this process in the hierarchy of `controller` (version 1), or in the unified one (empty controller).
bool read_path(const std::string& root, std::string_view controller, std::string& path) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
      path = line.substr(second + 1);
      return true;
    }
  }
  return false;
}

// Where that hierarchy is mounted, and which of its groups the mount shows at its top.
bool read_mount(const std::string& root, std::string_view controller, std::string& shown, std::string& mount) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string skipped, top, point, kind, source, options;
    before >> skipped >> skipped >> skipped >> top >> point;
    after >> kind >> source >> options;
    if (controller.empty() ? kind != "cgroup2" : kind != "cgroup" || !has_word(options, controller)) continue;
    shown = top == "/" ? "" : top;
    mount = point;
    return true;
  }
  return false;
}

hierarchy find_groups(const std::string& root, std::string_view controller, int version) {
  hierarchy found;
  std::string path, shown, mount;
  const std::string_view name = version == 1 ? controller : std::string_view{};
  if (!read_path(root, name, path) || !read_mount(root, name, shown, mount)) return found;
  found.version = version;
  // A path outside what the mount shows (a container without a control-group namespace): its top is our group.
  if (path.compare(0, shown.size(), shown) == 0) {
    path.erase(0, shown.size());
  } else {
    path.clear();
  }
  if (path.compare(0, 3, "/..") == 0) path.clear();
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::string top = root + mount;
  for (;;) {
    found.groups.push_back(top + path);
    if (path.empty()) return found;
    path.erase(path.find_last_of('/'));
  }
}

memory_group read_one(const std::string& group, int version) {
  memory_group one;
  one.path = group;
  const bool unified = version == 2;
  if (!read_number(group + (unified ? "/memory.max" : "/memory.limit_in_bytes"), one.limit_bytes)) return {};
  if (!read_number(group + (unified ? "/memory.current" : "/memory.usage_in_bytes"), one.current_bytes)) return {};
  if (one.limit_bytes >= k_version_1_no_limit) return {};
  one.reclaimable_bytes = unified ? read_statistics(group + "/memory.stat", "inactive_file", "active_file")
                                  : read_statistics(group + "/memory.stat", "total_inactive_file", "total_active_file");
  return one;
}

}  // namespace

std::uint64_t memory_group::available_bytes() const noexcept {
  if (limit_bytes == k_no_limit) return k_no_limit;
  const std::uint64_t firm = current_bytes - std::min(current_bytes, reclaimable_bytes);
  return limit_bytes - std::min(limit_bytes, firm);
}

memory_group read_memory_group(const std::string& root) {
  // Each allocation asks, and a process seldom moves to another group: its groups are looked for once.
  static const std::array own{find_groups("", "memory", 1), find_groups("", "memory", 2)};
  memory_group tightest;
  for (const int version : {1, 2}) {
    const hierarchy found = root.empty() ? own[version == 1 ? 0 : 1] : find_groups(root, "memory", version);
    for (const std::string& group : found.groups) {
      const memory_group one = read_one(group, found.version);
      if (one.available_bytes() < tightest.available_bytes()) tightest = one;
    }
  }
  return tightest;
}

process_group read_process_group(const std::string& root) {
  process_group tightest;
  const auto left = [](const process_group& g) { return g.limit - std::min(g.limit, g.current); };
  for (const int version : {1, 2}) {
    for (const std::string& group : find_groups(root, "pids", version).groups) {
      process_group one{.path = group};
      if (!read_number(group + "/pids.max", one.limit) || one.limit == k_no_limit) continue;
      if (!read_number(group + "/pids.current", one.current)) continue;
      if (tightest.path.empty() || left(one) < left(tightest)) tightest = one;
    }
  }
  return tightest;
}

double read_cpu_quota(const std::string& root) {
  double quota = std::numeric_limits<double>::infinity();
  const auto consider = [&quota](double allowed, double period) {
    if (allowed > 0 && period > 0) quota = std::min(quota, allowed / period);
  };
  for (const std::string& group : find_groups(root, "cpu", 2).groups) {
    std::ifstream in(group + "/cpu.max");
    std::string allowed;
    double period = 0;
    if (in >> allowed >> period && allowed != "max") consider(std::strtod(allowed.c_str(), nullptr), period);
  }
  for (const std::string& group : find_groups(root, "cpu", 1).groups) {
    std::ifstream quota_file(group + "/cpu.cfs_quota_us");
    std::ifstream period_file(group + "/cpu.cfs_period_us");
    double allowed = 0;
    double period = 0;
    if (quota_file >> allowed && period_file >> period) consider(allowed, period);
  }
  return quota;
}

}  // namespace shoal::machine
