// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_wait_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/table.hpp"

namespace shoal::runtime {
namespace {

// "0-4,6-127"
std::string text_of(std::span<const std::int64_t> ranks, std::size_t most_ranges) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (ranges++ == most_ranges) return text + ",...";
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i != 0) text += ',';
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text) {
  std::vector<std::int64_t> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::int64_t first = 0;
    auto got = std::from_chars(at, end, first);
    if (got.ec != std::errc{} || first < 0) return std::nullopt;
    std::int64_t last = first;
    if (got.ptr != end && *got.ptr == '-') got = std::from_chars(got.ptr + 1, end, last);
    constexpr std::int64_t k_most = 1 << 20;
    if (got.ec != std::errc{} || last < first || last - first >= k_most) return std::nullopt;
    for (std::int64_t r = first; r <= last; ++r) ranks.push_back(r);
    if (got.ptr != end && *got.ptr != ',') return std::nullopt;
    at = got.ptr == end ? end : got.ptr + 1;
  }
  return ranks;
}

std::vector<rank_waits> merge(std::span<const rank_waits> all) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> places;
  std::vector<rank_waits> merged;
  for (const rank_waits& r : all) {
    const auto [at, is_new] = places.try_emplace({r.call, r.called_at, r.waits_for}, merged.size());
    if (is_new) {
      merged.push_back(r);
      continue;
    }
    rank_waits& to = merged[at->second];
    to.ranks.insert(to.ranks.end(), r.ranks.begin(), r.ranks.end());
    to.waited_ns = std::max(to.waited_ns, r.waited_ns);
  }
  for (rank_waits& r : merged) std::ranges::sort(r.ranks);
  std::ranges::sort(merged, {}, [](const rank_waits& r) { return r.ranks.front(); });
  return merged;
}

}  // namespace

std::vector<rank_waits> describe_ranks(std::span<const sched::waiting_task> tasks, const call_names& name) {
  std::vector<rank_waits> all;
  std::map<std::pair<std::int64_t, std::string_view>, std::size_t> places;
  for (const sched::waiting_task& t : tasks) {
    const detail::wait_description& d = t.of_rank;
    if (d.rank < 0) continue;
    const std::string_view call = d.call == nullptr ? "" : d.call;
    std::string called_at = d.called_from == nullptr ? std::string() : name(d.called_from);
    const auto [at, is_new] = places.try_emplace({d.rank, call}, all.size());
    if (is_new) {
      all.push_back({{d.rank}, std::string(call), std::move(called_at), d.waits_for, t.waited_ns});
      continue;
    }
    // A collective operation that another task carries out for the rank: one knows the place, the other the reason.
    rank_waits& to = all[at->second];
    if (to.called_at.empty()) to.called_at = std::move(called_at);
    if (d.waits_for.size() > to.waits_for.size()) to.waits_for = d.waits_for;
    to.waited_ns = std::max(to.waited_ns, t.waited_ns);
  }
  return merge(all);
}

std::vector<std::string> fields_of(const rank_waits& one) {
  return {text_of(one.ranks, one.ranks.size()), one.call, one.called_at, one.waits_for, fmt::to_string(one.waited_ns)};
}

std::optional<rank_waits> parse_rank_waits(std::span<const std::string_view> fields) {
  if (fields.size() != k_rank_fields) return std::nullopt;
  auto ranks = parse_ranks(fields[0]);
  if (!ranks || ranks->empty()) return std::nullopt;
  rank_waits r{std::move(*ranks), std::string(fields[1]), std::string(fields[2]), std::string(fields[3])};
  const char* const end = fields[4].data() + fields[4].size();
  const auto got = std::from_chars(fields[4].data(), end, r.waited_ns);
  if (got.ec != std::errc{} || got.ptr != end) return std::nullopt;
  return r;
}

std::string rank_table(std::vector<rank_waits> all, std::size_t most) {
  constexpr std::size_t k_most_ranges = 6;
  const std::vector<rank_waits> rows = merge(all);
  base::table table({"rank", "in", "called at", "waits for", "since"});
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const rank_waits& r = rows[i];
    if (i >= most)
      left_out += r.ranks.size();
    else
      table.add({text_of(r.ranks, k_most_ranges), r.call, r.called_at.empty() ? "-" : r.called_at, r.waits_for,
                 base::short_duration(r.waited_ns)});
  }
  return table.text() + (left_out == 0 ? "" : fmt::format("\n  and {} more ranks that wait", left_out));
}

}  // namespace shoal::runtime
