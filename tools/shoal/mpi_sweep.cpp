// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/mpi_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "shoal/error.hpp"
#include "trace/drawing.hpp"

namespace shoal::tools {
namespace {

constexpr unsigned k_ranks_per_worker = 4;
constexpr std::uint64_t k_own_mappings = 200;     // of a process without ranks, at least
constexpr std::uint64_t k_rank_bytes = 64 << 10;  // of the runtime and a stack, about

// Differences of a few hundredths, or of some milliseconds, are those of starts.
constexpr double k_same = 1.03;
constexpr double k_same_seconds = 0.02;

enum class place { behind, perhaps_as_fast, fastest, failed };

// The first with the least time is the fastest.
place place_of(const sweep_result& s, const sweep_run& one) {
  if (one.status != 0) return place::failed;
  const sweep_run* best = &one;
  for (const sweep_run& r : s.runs)
    if (r.status == 0 && (r.least() < best->least() || (r.least() <= best->least() && &r < best))) best = &r;
  if (best == &one) return place::fastest;
  const double least = best->least();
  return one.least() <= std::max(least * k_same, least + k_same_seconds) ? place::perhaps_as_fast : place::behind;
}

std::string words_of(const sweep_result& s, const sweep_run& one) {
  switch (place_of(s, one)) {
    case place::failed: return fmt::format("failed with status {}", one.status);
    case place::fastest: return "fastest";
    case place::perhaps_as_fast: return "as fast, perhaps";
    case place::behind: break;
  }
  return {};
}

const char* colour_of(const sweep_result& s, const sweep_run& one) {
  switch (place_of(s, one)) {
    case place::failed: return "#ee6677";
    case place::fastest: return "#228833";
    case place::perhaps_as_fast: return "#88bb88";
    case place::behind: break;
  }
  return "#4477aa";
}

}  // namespace

unsigned automatic_ranks(const ranks_limits& limits) {
  std::uint64_t most = std::uint64_t{k_ranks_per_worker} * limits.workers;
  if (limits.memory_bytes != 0)
    most =
        std::min(most, limits.memory_bytes / 4 / std::max(limits.processes, 1U) / (limits.copy_bytes + k_rank_bytes));
  if (limits.mappings != 0 && limits.copy_mappings != 0)
    most = std::min(most, limits.mappings / 2 / limits.copy_mappings);
  return static_cast<unsigned>(std::bit_floor(std::clamp<std::uint64_t>(most, 1, k_most_ranks)));
}

void check_ranks(unsigned ranks, const ranks_limits& limits, std::uint64_t simulated) {
  const std::uint64_t needed = simulated * ranks * limits.copy_mappings;
  if (limits.mappings == 0 || needed + k_own_mappings <= limits.mappings) return;
  const std::uint64_t most = (limits.mappings - std::min(limits.mappings, k_own_mappings)) / limits.copy_mappings;
  if (simulated > 1)
    throw error(
        errc::invalid_argument,
        fmt::format("all {} ranks of a simulated machine are in one process: their copies of the program take {} "
                    "mappings, and a process may have {} (vm.max_map_count); have at most some {} ranks, or let "
                    "root raise that limit: sysctl vm.max_map_count={}",
                    simulated * ranks, needed, limits.mappings, most, 2 * needed));
  throw error(
      errc::invalid_argument,
      fmt::format("--nfg {}: so many copies of the program take {} mappings, and a process may have {} "
                  "(vm.max_map_count); have at most some {} ranks in a process and more processes (-n), or let root "
                  "raise that limit: sysctl vm.max_map_count={}",
                  ranks, needed, limits.mappings, most, 2 * needed));
}

std::vector<unsigned> read_ranks(std::string_view option) {
  std::vector<unsigned> found;
  if (option == "auto") return found;
  for (std::string_view rest = option;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    unsigned n = 0;
    const auto got = std::from_chars(word.data(), word.data() + word.size(), n);
    if (got.ec != std::errc{} || got.ptr != word.data() + word.size() || n < 1 || n > k_most_ranks)
      throw error(errc::invalid_argument,
                  fmt::format("--nfg {}: give the ranks of each process, 1 to {}; or several such numbers with commas "
                              "between them, to compare them; or auto",
                              option, k_most_ranks));
    found.push_back(n);
    if (word.size() == rest.size()) return found;
    rest.remove_prefix(word.size() + 1);
  }
}

double sweep_run::least() const { return *std::ranges::min_element(seconds); }
double sweep_run::median() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::string sweep_table(const sweep_result& s) {
  std::string text = fmt::format("{:>6} {:>8} {:>10} {:>10} {:>6}\n", "nfg", "ranks", "least s", "median s", "runs");
  double most = 0;
  for (const sweep_run& r : s.runs) most = std::max(most, r.least());
  for (const sweep_run& r : s.runs) {
    constexpr double k_bar = 40;
    const auto bar = static_cast<std::size_t>(most > 0 ? r.least() / most * k_bar : 0);
    const std::string words = words_of(s, r);
    const std::string how = r.status != 0 ? words : std::string(bar, '=') + (words.empty() ? "" : " " + words);
    text += fmt::format("{:>6} {:>8} {:>10.3f} {:>10.3f} {:>6} {}\n", r.ranks, r.ranks * s.processes, r.least(),
                        r.median(), r.seconds.size(), how);
  }
  return text;
}

std::string sweep_json(const sweep_result& s) {
  nlohmann::ordered_json all;
  all["shoal"] = SHOAL_VERSION;
  all["program"] = s.program;
  all["processes"] = s.processes;
  all["runs"] = nlohmann::ordered_json::array();
  for (const sweep_run& r : s.runs)
    all["runs"].push_back({{"nfg", r.ranks},
                           {"ranks", r.ranks * s.processes},
                           {"status", r.status},
                           {"least_seconds", r.least()},
                           {"median_seconds", r.median()},
                           {"seconds", r.seconds}});
  return all.dump(2) + "\n";
}

std::string sweep_picture(const sweep_result& s) {
  constexpr double k_left = 110;
  constexpr double k_plot = 560;
  constexpr double k_row = 30;
  trace::drawing d;
  d.text(k_left, 30, "Seconds of the job by ranks in each process", "start", 18);
  d.text(k_left, 50, fmt::format("{} process{}; the least of the runs", s.processes, s.processes == 1 ? "" : "es"));
  double most = 0;
  for (const sweep_run& r : s.runs) most = std::max(most, r.least());
  double y = 70;
  for (const sweep_run& r : s.runs) {
    const double length = most > 0 ? r.least() / most * k_plot : 0;
    d.text(k_left - 8, y + 17, base::counted(r.ranks, "rank"), "end");
    d.box(k_left, y, length, k_row - 8, colour_of(s, r),
          fmt::format("{} in each process: {:.6f} s", base::counted(r.ranks, "rank"), r.least()));
    const std::string words = words_of(s, r);
    d.text(k_left + length + 8, y + 17,
           r.status != 0 ? words : fmt::format("{:.3f} s{}{}", r.least(), words.empty() ? "" : ", ", words));
    y += k_row;
  }
  return d.finish(k_left + k_plot + 150, y + 20);
}

}  // namespace shoal::tools
