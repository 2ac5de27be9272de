// SPDX-License-Identifier: Apache-2.0
// The profile of ranks as a table.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "trace/ranks_profile.hpp"

namespace shoal::trace {
namespace {

constexpr std::size_t k_most_rows = 32;  // of more ranks, those that compute longest
constexpr std::size_t k_most_pairs = 10;

std::string amount(double bytes) {
  if (bytes < 10'000) return fmt::format("{:.0f} B", bytes);
  if (bytes < 10e6) return fmt::format("{:.1f} KB", bytes / 1e3);
  return fmt::format("{:.1f} MB", bytes / 1e6);
}
std::string amount(std::uint64_t bytes) { return amount(static_cast<double>(bytes)); }

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

void add_row(std::string& text, std::string_view name, const rank_row& r) {
  const double all = r.seconds();
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  for (const rank_messages& m : r.sent) {
    messages += m.count;
    bytes += m.bytes;
  }
  fmt::format_to(std::back_inserter(text),
                 "{:>6} {:>9.3f} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9}\n", name, all,
                 share(r.compute_seconds, all), share(r.copy_seconds, all), share(r.library_seconds, all),
                 share(r.wait_seconds, all), share(r.ready_seconds, all), r.calls, messages, amount(bytes),
                 r.longest_receives, r.longest_messages, amount(r.stack_bytes));
}

void add_ranks(std::string& text, const ranks_profile& p) {
  fmt::format_to(std::back_inserter(text),
                 "{:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9}\n", "rank",
                 "seconds", "compute", "copy", "library", "wait", "ready", "calls", "messages", "sent", "receives",
                 "unexpect.", "stack");
  std::vector<const rank_row*> rows;
  rank_row all;
  for (const rank_row& r : p.ranks) {
    rows.push_back(&r);
    all.compute_seconds += r.compute_seconds;
    all.copy_seconds += r.copy_seconds;
    all.library_seconds += r.library_seconds;
    all.wait_seconds += r.wait_seconds;
    all.ready_seconds += r.ready_seconds;
    all.calls += r.calls;
    all.stack_bytes += r.stack_bytes;
    all.longest_receives = std::max(all.longest_receives, r.longest_receives);
    all.longest_messages = std::max(all.longest_messages, r.longest_messages);
    all.sent.insert(all.sent.end(), r.sent.begin(), r.sent.end());
  }
  if (rows.size() > k_most_rows) {
    std::ranges::stable_sort(rows,
                             [](const auto* a, const auto* b) { return a->compute_seconds > b->compute_seconds; });
    rows.resize(k_most_rows);
  }
  for (const rank_row* r : rows) add_row(text, fmt::format("{}", r->rank), *r);
  if (rows.size() < p.ranks.size())
    fmt::format_to(std::back_inserter(text), "  ... {} more, which compute less\n", p.ranks.size() - rows.size());
  if (p.ranks.size() > 1) add_row(text, "all", all);
}

void add_waits(std::string& text, const ranks_profile& p) {
  std::map<std::string, rank_wait> by_function;
  for (const rank_row& r : p.ranks) {
    for (const rank_wait& w : r.waits) {
      rank_wait& sum = by_function[w.function];
      sum.count += w.count;
      sum.seconds += w.seconds;
      sum.ready_seconds += w.ready_seconds;
    }
  }
  if (by_function.empty()) return;
  std::vector<std::pair<std::string, rank_wait>> rows(by_function.begin(), by_function.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  fmt::format_to(std::back_inserter(text), "\n{:<28} {:>12} {:>12} {:>12}\n", "waits, of all ranks", "times", "seconds",
                 "of it ready");
  for (const auto& [name, w] : rows)
    fmt::format_to(std::back_inserter(text), "  {:<26} {:>12} {:>12.3f} {:>12.3f}\n", name, w.count, w.seconds,
                   w.ready_seconds);
}

struct pair_row {
  int from;
  rank_messages to;
};

void add_pairs(std::string& text, const ranks_profile& p) {
  std::vector<pair_row> pairs;
  for (const rank_row& r : p.ranks)
    for (const rank_messages& m : r.sent) pairs.push_back({r.rank, m});
  if (pairs.empty()) return;
  std::ranges::stable_sort(pairs, [](const pair_row& a, const pair_row& b) { return a.to.bytes > b.to.bytes; });
  fmt::format_to(std::back_inserter(text), "\n{:<28} {:>12} {:>12}\n", "messages, from and to", "number", "bytes");
  for (std::size_t i = 0; i < std::min(pairs.size(), k_most_pairs); ++i)
    fmt::format_to(std::back_inserter(text), "  {:<26} {:>12} {:>12}\n",
                   fmt::format("{} -> {}", pairs[i].from, pairs[i].to.to), pairs[i].to.count,
                   amount(pairs[i].to.bytes));
  if (pairs.size() > k_most_pairs)
    fmt::format_to(std::back_inserter(text), "  ... {} more pairs of ranks\n", pairs.size() - k_most_pairs);
}

void add_memory(std::string& text, const ranks_profile& p) {
  text += "\nmemory\n";
  for (std::size_t i = 0; i < p.processes.size(); ++i) {
    const rank_process& o = p.processes[i];
    const std::uint64_t more = o.bytes_at_most - std::min(o.bytes_before, o.bytes_at_most);
    fmt::format_to(std::back_inserter(text), "  process {}: {} before its ranks, {} at most; {} per rank, of {}\n", i,
                   amount(o.bytes_before), amount(o.bytes_at_most),
                   amount(static_cast<double>(more) / std::max(o.ranks, 1U)), o.ranks);
  }
  if (!p.processes.empty() && p.processes[0].copy_mappings != 0) {
    const rank_process& o = p.processes[0];
    fmt::format_to(std::back_inserter(text),
                   "  a copy of the program: {} of its own at most, {} mappings; {} shared by all copies\n",
                   amount(o.copy_bytes), o.copy_mappings, amount(o.shared_bytes));
  }
}

}  // namespace

std::string ranks_table(const ranks_profile& p) {
  std::string text =
      fmt::format("profile of {} rank{} in {} process{}\n", p.ranks.size(), p.ranks.size() == 1 ? "" : "s",
                  p.processes.size(), p.processes.size() == 1 ? "" : "es");
  add_ranks(text, p);
  add_waits(text, p);
  add_pairs(text, p);
  add_memory(text, p);
  return text;
}

}  // namespace shoal::trace
