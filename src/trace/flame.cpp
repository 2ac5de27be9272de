// SPDX-License-Identifier: Apache-2.0
#include "trace/flame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "base/counted.hpp"

namespace shoal::trace {
namespace {

// What takes less than this part of the time is not drawn.
constexpr std::uint64_t k_smallest_part = 2000;

void add_node(std::string& out, std::uint32_t name, const flame_node& n, std::uint64_t least_ns) {
  fmt::format_to(std::back_inserter(out), "[{},{},{},[", name, n.ns / 1000, n.self_ns / 1000);
  for (const auto& [called, node] : n.calls)
    if (node.ns >= least_ns) add_node(out, called, node, least_ns);
  out += "]],";
}

}  // namespace

flame_node make_flame(const timeline& t) {
  flame_node all;
  for (const sampled_stack& s : t.stacks) {
    flame_node* at = &all;
    at->ns += s.ns;
    for (const std::uint32_t name : s.names) {
      at = &at->calls[name];
      at->ns += s.ns;
    }
    at->self_ns += s.ns;
  }
  return all;
}

std::string flame_text(const timeline& t) {
  if (t.stacks.empty()) return {};
  struct sum {
    std::uint64_t self_ns = 0;
    std::uint64_t ns = 0;
  };
  std::map<std::uint32_t, sum> by_name;
  std::uint64_t all_ns = 0;
  std::uint64_t samples = 0;
  for (const sampled_stack& s : t.stacks) {
    all_ns += s.ns;
    samples += s.count;
    by_name[s.names.back()].self_ns += s.ns;
    for (const std::uint32_t name : std::set(s.names.begin(), s.names.end())) by_name[name].ns += s.ns;
  }
  std::vector<std::pair<std::uint32_t, sum>> rows(by_name.begin(), by_name.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& r) { return r.second.self_ns; });
  constexpr std::size_t k_most_rows = 15;
  if (rows.size() > k_most_rows) rows.resize(k_most_rows);
  const auto percent = [all_ns](std::uint64_t ns) {
    return all_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(all_ns) * 100;
  };
  std::string text =
      fmt::format("{:<60} {:>12} {:>9} {:>12}\n", fmt::format("functions, by {}", base::counted(samples, "sample")),
                  "own time", "share", "with calls");
  for (const auto& [name, s] : rows) {
    text += fmt::format("{:<60} {:>12} {:>8.2f}% {:>12}\n", base::shortened_name(t.words[name], 60),
                        base::described_ns(static_cast<double>(s.self_ns)), percent(s.self_ns),
                        base::described_ns(static_cast<double>(s.ns)));
  }
  if (t.ns_without_stack > 0)
    text += fmt::format("and {} in stacks for which there was no room\n",
                        base::described_ns(static_cast<double>(t.ns_without_stack)));
  return text + "\n";
}

std::string flame_data(const timeline& t) {
  if (t.stacks.empty()) return {};
  const flame_node all = make_flame(t);
  std::string out = "data.flame = ";
  add_node(out, 0, all, std::max<std::uint64_t>(1, all.ns / k_smallest_part));
  out.back() = ';';
  return out;
}

std::string folded_stacks(const timeline& t) {
  std::string out;
  for (const sampled_stack& s : t.stacks) {
    for (std::size_t i = 0; i < s.names.size(); ++i) {
      std::string name = t.words[s.names[i]];
      std::ranges::replace(name, ';', ':');
      out += (i == 0 ? "" : ";") + name;
    }
    out += fmt::format(" {}\n", s.ns / 1000);
  }
  return out;
}

}  // namespace shoal::trace
