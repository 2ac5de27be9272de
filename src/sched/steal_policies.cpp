// SPDX-License-Identifier: Apache-2.0
#include "sched/steal_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "base/comma_list.hpp"
#include "sched/worker_map.hpp"
#include "shoal/error.hpp"

namespace shoal::sched {

extern const std::span<const steal_policy_entry* const> k_steal_table;  // made by the build, by name

namespace {

struct added_policy {
  std::string help;
  steal_policy_maker make;
};

// Like a list of plugins: what the program brings is code, the same for all runtimes of the process.
struct added_list {
  std::mutex lock;
  std::map<std::string, added_policy, std::less<>> by_name;
};
added_list& added() {
  static added_list list;
  return list;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                              std::string_view::npos;
}

const steal_policy_entry* built_in(std::string_view name) {
  const auto found = std::ranges::find(k_steal_table, name, [](const steal_policy_entry* e) { return e->name; });
  return found == k_steal_table.end() ? nullptr : *found;
}

struct parsed {
  std::string name;
  std::vector<std::string> arguments;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  std::string forms;
  for (const auto& line : known_steal_policies()) forms += (forms.empty() ? "" : ", ") + line.form;
  throw error(errc::invalid_argument, fmt::format("'{}' is no victim policy: {}; known are {}", text, why, forms));
}

parsed parse(std::string_view text) {
  const std::string_view whole = base::trim(text);
  const auto open = whole.find('(');
  parsed result{std::string(base::trim(whole.substr(0, open))), {}};
  if (open == std::string_view::npos) return result;
  if (whole.back() != ')' || whole.find('(', open + 1) != std::string_view::npos || whole.find(')') != whole.size() - 1)
    refuse(text, "it is written NAME or NAME(ARGUMENT,...)");
  std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
  while (!base::trim(rest).empty() || !result.arguments.empty()) {
    const auto comma = rest.find(',');
    result.arguments.emplace_back(base::trim(rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return result;
}

// A view without data: to construct a policy only to check its arguments.
struct lone_view final : steal_view {
  explicit lone_view(const worker_map& map) : steal_view(0, map, 0) {}
  std::size_t load(unsigned) const noexcept override { return 0; }
};

}  // namespace

steal_policy_factory find_steal_policy(std::string_view text) {
  parsed wanted = parse(text);
  steal_policy_maker make;
  if (const steal_policy_entry* entry = built_in(wanted.name)) {
    make = entry->make;
  } else {
    auto& list = added();
    const std::lock_guard hold(list.lock);
    if (const auto found = list.by_name.find(wanted.name); found != list.by_name.end()) make = found->second.make;
  }
  if (!make) refuse(text, "the name is unknown");
  steal_policy_factory factory = [make = std::move(make), arguments = std::move(wanted.arguments)](steal_view& view) {
    return make(view, arguments);
  };
  const worker_map alone(1, {});
  lone_view view(alone);
  try {
    if (factory(view) == nullptr) throw error(errc::invalid_argument, "its maker gives nothing");
  } catch (const std::exception& e) {
    refuse(text, e.what());
  }
  return factory;
}

std::vector<steal_policy_line> known_steal_policies() {
  std::vector<steal_policy_line> lines;
  for (const steal_policy_entry* e : k_steal_table) lines.push_back({std::string(e->form), std::string(e->help)});
  auto& list = added();
  const std::lock_guard hold(list.lock);
  for (const auto& [name, policy] : list.by_name) lines.push_back({name, policy.help});
  return lines;
}

}  // namespace shoal::sched

namespace shoal {

void add_steal_policy(const std::string& name, const std::string& help, steal_policy_maker make) {
  if (!sched::is_word(name))
    throw error(errc::invalid_argument,
                fmt::format("'{}' cannot be the name of a victim policy; use letters, digits and _", name));
  if (!make)
    throw error(errc::invalid_argument, fmt::format("the victim policy {} has no maker; give a function", name));
  auto& list = sched::added();
  const std::lock_guard hold(list.lock);
  if (sched::built_in(name) != nullptr ||
      !list.by_name.try_emplace(name, sched::added_policy{help, std::move(make)}).second)
    throw error(errc::invalid_argument, fmt::format("there is a victim policy {} already; choose another name", name));
}

}  // namespace shoal
