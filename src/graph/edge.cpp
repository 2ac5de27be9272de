// SPDX-License-Identifier: Apache-2.0
#include "shoal/graph/edge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "graph/input_error.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

constexpr std::size_t k_suggestions = 3;

/// The number of insertions, deletions and replacements between two names, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b, std::vector<std::size_t>& row) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  row.resize(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> nearest(const std::vector<std::string>& names, std::string_view wanted) {
  std::vector<std::pair<std::size_t, std::string_view>> best;
  std::vector<std::size_t> row;
  for (const std::string& name : names) {
    // A name that begins with the wanted text is near, however long it is.
    const bool begins = !wanted.empty() && std::string_view{name}.starts_with(wanted);
    const std::size_t longest = std::max(name.size(), wanted.size());
    const std::size_t gap = longest - std::min(name.size(), wanted.size());
    if (!begins && (gap > longest / 3 || (best.size() == k_suggestions && gap > best.back().first))) continue;
    const std::size_t distance = begins ? std::min<std::size_t>(gap, 2) : edit_distance(name, wanted, row);
    if (!begins && distance > longest / 3) continue;
    const auto candidate = std::make_pair(distance, std::string_view{name});
    best.insert(std::upper_bound(best.begin(), best.end(), candidate), candidate);
    if (best.size() > k_suggestions) best.pop_back();
  }
  std::vector<std::string_view> result;
  for (const auto& candidate : best) result.push_back(candidate.second);
  return result;
}

}  // namespace

std::uint64_t find_vertex(const graph_header& graph, std::string_view name) {
  const auto found = std::find(graph.names.begin(), graph.names.end(), name);
  if (found != graph.names.end()) return static_cast<std::uint64_t>(found - graph.names.begin());

  const bool by_number = graph.names.empty() || name.starts_with('#');
  if (by_number) {
    const std::string_view digits = name.starts_with('#') ? name.substr(1) : name;
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool all = end == digits.data() + digits.size() && !digits.empty();
    if (all && code == std::errc{} && number < graph.vertices) return number;
    if (graph.vertices == 0)
      throw error(errc::not_found, fmt::format("no vertex {}: the graph has none", in_quotes(name)));
    const std::string range = fmt::format("from 0 to {}", graph.vertices - 1);
    if (all)
      throw error(errc::not_found, fmt::format("no vertex {}: the graph has vertices {}", in_quotes(name), range));
    throw error(errc::not_found,
                fmt::format("no vertex {}: the graph has no names; give a number {}", in_quotes(name), range));
  }
  const auto near = nearest(graph.names, name);
  throw error(errc::not_found, near.empty()
                                   ? fmt::format("no vertex is named {}, and no name is similar", in_quotes(name))
                                   : fmt::format("no vertex is named {}; the nearest names are {}", in_quotes(name),
                                                 fmt::join(near, ", ")));
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> equally_named(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> order(names.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    return std::pair{std::string_view{names[a]}, a} < std::pair{std::string_view{names[b]}, b};
  });
  const auto twice =
      std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) { return names[a] == names[b]; });
  if (twice == order.end()) return std::nullopt;
  return std::pair{twice[0], twice[1]};
}

std::string name_of(const graph_header& graph, std::uint64_t vertex) {
  return vertex < graph.names.size() ? graph.names[vertex] : std::to_string(vertex);
}

}  // namespace shoal::graph
