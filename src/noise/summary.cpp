// SPDX-License-Identifier: Apache-2.0
#include "noise/summary.hpp"
#include "base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace shoal::noise {

std::uint64_t event_row::total_ns() const noexcept {
  return std::accumulate(lengths_ns.begin(), lengths_ns.end(), std::uint64_t{0});
}

double event_row::average_ns() const noexcept {
  return lengths_ns.empty() ? 0 : static_cast<double>(total_ns()) / static_cast<double>(lengths_ns.size());
}

std::uint64_t event_row::p99_ns() const noexcept {
  if (lengths_ns.empty()) return 0;
  return lengths_ns[(lengths_ns.size() * 99 + 99) / 100 - 1];
}

std::vector<event_row> event_rows(std::span<const interruption> interruptions) {
  std::map<std::pair<activity, std::uint32_t>, std::vector<std::uint64_t>> lengths;
  for (const interruption& i : interruptions)
    for (const interruption_part& p : i.parts) lengths[{p.what, p.detail}].push_back(p.ns);
  std::vector<event_row> rows;
  for (auto& [key, values] : lengths) {
    std::ranges::sort(values);
    rows.push_back({key.first, key.second, std::move(values)});
  }
  std::ranges::stable_sort(rows, std::greater<>(), &event_row::total_ns);
  return rows;
}

class_times times_by_class(std::span<const interruption> interruptions) {
  class_times sum{};
  for (const interruption& i : interruptions)
    for (const interruption_part& p : i.parts)
      sum[static_cast<std::size_t>(class_of(p.what))] += static_cast<double>(p.ns);
  return sum;
}

std::vector<class_times> synthetic_series(std::span<const interruption> interruptions, const quanta_result& of) {
  const std::vector<std::uint64_t>& ends = of.quantum_begin_ns;
  std::vector<class_times> series(ends.empty() ? 0 : ends.size() - 1);
  if (series.empty()) return series;
  for (const interruption& i : interruptions) {
    if (i.thread != of.thread) continue;
    for (const interruption_part& p : i.parts) {
      const std::uint64_t begin = std::max(p.begin_ns, ends.front());
      const std::uint64_t end = std::min(p.begin_ns + p.ns, ends.back());
      if (begin >= end) continue;
      auto q = static_cast<std::size_t>(std::ranges::upper_bound(ends, begin) - ends.begin()) - 1;
      for (; q < series.size() && ends[q] < end; ++q) {
        const std::uint64_t from = std::max(begin, ends[q]);
        const std::uint64_t to = std::min(end, ends[q + 1]);
        series[q][static_cast<std::size_t>(class_of(p.what))] += static_cast<double>(to - from);
      }
    }
  }
  return series;
}

void keep_measured(noise_record& record, std::span<const quanta_result> series) {
  record.threads.clear();
  for (const quanta_result& q : series) record.threads[q.thread].running_ns = q.measured_ns();
  for (interruption& i : record.interruptions) {
    const auto of = std::ranges::find(series, i.thread, &quanta_result::thread);
    if (of == series.end()) {
      i.parts.clear();
      continue;
    }
    const std::uint64_t begin = of->quantum_begin_ns.front();
    const std::uint64_t end = of->quantum_begin_ns.back();
    for (interruption_part& p : i.parts) {
      const std::uint64_t part_end = std::min(p.begin_ns + p.ns, end);
      p.begin_ns = std::max(p.begin_ns, begin);
      p.ns = part_end > p.begin_ns ? part_end - p.begin_ns : 0;
    }
    std::erase_if(i.parts, [](const interruption_part& p) { return p.ns == 0; });
    i.begin_ns = std::max(i.begin_ns, begin);
    i.end_ns = std::min(i.end_ns, end);
  }
  std::erase_if(record.interruptions, [](const interruption& i) { return i.parts.empty(); });
}

std::vector<explained_detour> explain(const quanta_result& measured, std::span<const interruption> interruptions) {
  // The clocks were read with some tens of nanoseconds between them.
  constexpr std::uint64_t k_slack_ns = 200;
  std::vector<explained_detour> result;
  std::vector<interruption_part> parts;
  for (const interruption& i : interruptions)
    if (i.thread == measured.thread) parts.insert(parts.end(), i.parts.begin(), i.parts.end());
  std::ranges::sort(parts, {}, &interruption_part::begin_ns);
  std::size_t next = 0;
  for (const detour& d : measured.detours) {
    explained_detour& e = result.emplace_back();
    e.when = d;
    while (next < parts.size() && parts[next].begin_ns + k_slack_ns < d.begin_ns) ++next;
    for (; next < parts.size() && parts[next].begin_ns <= d.end_ns; ++next) {
      e.parts.push_back(parts[next]);
      e.kernel_ns += parts[next].ns;
    }
    e.kernel_ns = std::min(e.kernel_ns, d.end_ns - d.begin_ns);
  }
  return result;
}

explanation explained_share(std::span<const explained_detour> detours) {
  explanation sum;
  for (const explained_detour& e : detours) {
    const auto length = static_cast<double>(e.when.end_ns - e.when.begin_ns);
    sum.detours_ns += length;
    if (e.parts.empty()) {
      sum.nothing_ns += length;
      continue;
    }
    sum.events_ns += static_cast<double>(e.kernel_ns);
    sum.edges_ns += length - static_cast<double>(e.kernel_ns);
  }
  return sum;
}

lost_shares shares_of(const quanta_result& measured, std::span<const interruption> interruptions) {
  const auto time = static_cast<double>(measured.measured_ns());
  if (time <= 0) return {};
  const double lost_ns = std::accumulate(measured.noise_ns.begin(), measured.noise_ns.end(), 0.0);
  const explanation e = explained_share(explain(measured, interruptions));
  return {lost_ns / time, (e.events_ns + e.edges_ns) / time, e.nothing_ns / time,
          std::max(0.0, lost_ns - e.detours_ns) / time};
}

std::string describe(activity what, std::uint32_t detail, const word_table& words) {
  if (detail == 0) return std::string(name_of(what));
  return fmt::format("{} ({})", name_of(what), words.word(detail));
}

std::string describe(std::span<const interruption_part> parts, const word_table& words) {
  if (parts.empty()) return "no event of the kernel";
  // Two programs may have run in turn, many times.
  std::vector<interruption_part> sums;
  for (const interruption_part& p : parts) {
    const auto same = [&](const interruption_part& s) { return s.what == p.what && s.detail == p.detail; };
    if (const auto at = std::ranges::find_if(sums, same); at != sums.end()) {
      at->ns += p.ns;
    } else {
      sums.push_back(p);
    }
  }
  std::string text;
  for (const interruption_part& p : sums)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", describe(p.what, p.detail, words),
                        base::described_ns(static_cast<double>(p.ns)));
  return text;
}

}  // namespace shoal::noise
