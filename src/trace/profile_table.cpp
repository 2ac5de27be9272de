// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "shoal/profile_result.hpp"
#include "trace/profile_rows.hpp"

namespace shoal {
namespace {

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

// An entry that was counted but never in a timed sample has no time.
bool is_timed(const profile_entry& e) { return e.count == 0 || e.seconds > 0; }

std::string each(const profile_entry& e) {
  if (e.count == 0 || !is_timed(e)) return "-";
  const double ns = e.seconds * 1e9 / static_cast<double>(e.count);
  return ns < 100 ? fmt::format("{:.1f}", ns) : fmt::format("{:.0f}", ns);
}

void add_worker(std::string& text, std::string_view name, const profile_worker& w) {
  const double all = w.seconds();
  fmt::format_to(std::back_inserter(text), "{:<10} {:>9} {:>11} {:>9} {:>12} {:>12} {:>10} {:>10}\n", name,
                 percent(w.work_seconds, all), percent(w.scheduling_seconds(), all), percent(w.idle_seconds(), all),
                 w.begun, w.steal.count, w.left, w.park.count);
}

void add_attempts(std::string& text, const profile_worker& total) {
  bool first = true;
  for (std::size_t d = 0; d < total.attempts.size(); ++d) {
    const profile_attempts& a = total.attempts[d];
    if (a.won + a.lost + a.empty == 0) continue;
    if (std::exchange(first, false))
      fmt::format_to(std::back_inserter(text), "\n{:<22} {:>12} {:>12} {:>12}\n", "attempts to steal", "won", "lost",
                     "empty");
    fmt::format_to(std::back_inserter(text), "  {:<20} {:>12} {:>12} {:>12}\n", trace::k_distance_names[d], a.won,
                   a.lost, a.empty);
  }
}

}  // namespace

std::string profile_table(const profile& p) {
  constexpr std::size_t k_most_lines = 64;
  const profile_worker total = p.total();
  std::string text =
      fmt::format("profile: {} worker{}, {:.3f} s\n\n{:<10} {:>9} {:>11} {:>9} {:>12} {:>12} {:>10} {:>10}\n",
                  p.workers.size(), p.workers.size() == 1 ? "" : "s", p.wall_seconds, "", "work", "scheduling", "idle",
                  "tasks", "stolen", "waits", "sleeps");
  for (std::size_t w = 0; w < std::min(p.workers.size(), k_most_lines); ++w)
    add_worker(text, fmt::format("worker {}", w), p.workers[w]);
  if (p.workers.size() > k_most_lines)
    text += fmt::format("({} more: see the JSON object)\n", p.workers.size() - k_most_lines);
  add_worker(text, "all", total);

  const double all = total.seconds();
  text += fmt::format("\n{:<12} {:>12} {:>11} {:>9} {:>9}\n", "", "count", "seconds", "ns each", "share");
  text += fmt::format("{:<12} {:>12} {:>11.6f} {:>9} {:>9}\n", "work", "", total.work_seconds, "",
                      percent(total.work_seconds, all));
  if (const auto inflation = p.inflation_seconds()) {
    text += fmt::format("  {:<10} {:>12} {:>11.6f} {:>9} {:>9}\n", "serial", "", *p.serial_seconds, "",
                        percent(*p.serial_seconds, all));
    text += fmt::format("  {:<10} {:>12} {:>11.6f} {:>9} {:>9}   the additional work time of tasks\n", "inflation", "",
                        *inflation, "", percent(*inflation, all));
  }
  for (const auto part : {trace::profile_part::scheduling, trace::profile_part::idle}) {
    const bool scheduling = part == trace::profile_part::scheduling;
    const double sum = scheduling ? total.scheduling_seconds() : total.idle_seconds();
    text += fmt::format("{:<12} {:>12} {:>11.6f} {:>9} {:>9}\n", scheduling ? "scheduling" : "idle", "", sum, "",
                        percent(sum, all));
    for (const auto& row : trace::k_profile_rows) {
      if (row.part != part) continue;
      const profile_entry& e = total.*row.entry;
      text += fmt::format("  {:<10} {:>12} {:>11} {:>9} {:>9}   {}\n", row.name, e.count,
                          is_timed(e) ? fmt::format("{:.6f}", e.seconds) : std::string("-"), each(e),
                          is_timed(e) ? percent(e.seconds, all) : std::string("-"), row.meaning);
    }
  }
  const std::uint64_t by_waiters = total.spawn.count - std::min(total.spawn.count, total.begun);
  text += fmt::format(
      "\n{} tasks spawned: {} begun from deques, {} run by whoever waited for them, placed on a worker, or not begun\n",
      total.spawn.count, total.begun, by_waiters);
  if (total.served > 0) text += fmt::format("{} polls found messages\n", total.served);
  if (!p.transport.empty())
    text += fmt::format("messages over {}: memory registered {} times, {:.1f} MiB in all\n", p.transport,
                        p.registrations, static_cast<double>(p.registered_bytes) / (1 << 20));
  add_attempts(text, total);
  if (!p.running.empty()) {
    const double sum = std::accumulate(p.running.begin(), p.running.end(), 0.0);
    text += fmt::format("\nrunning at once: {:.2f} on average, {} at most ({} looks, one every {:.3g} ms)\n",
                        sum / static_cast<double>(p.running.size()), *std::ranges::max_element(p.running),
                        p.running.size(), p.interval_seconds * 1e3);
  }
  return text;
}

}  // namespace shoal
