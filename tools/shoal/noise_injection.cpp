// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/noise_injection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>
#include <utility>

#include "base/log.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"
#include "noise/injection.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/error.hpp"
#include "tools/tune/trial.hpp"
#include "trace/drawing.hpp"

namespace shoal::tools {
namespace {

// The delay itself, or a range around it with the same mean.
std::string delay_text(const std::string& kind, const std::string& delay) {
  if (kind == "constant") return fmt::format("constant({})", delay);
  if (kind != "uniform")
    throw error(errc::invalid_argument, fmt::format("--kinds {}: there are constant and uniform", kind));
  double value = 0;
  const auto [unit, failed] = std::from_chars(delay.data(), delay.data() + delay.size(), value);
  if (failed != std::errc())
    throw error(errc::invalid_argument, fmt::format("--delays {}: give times such as 128ns, 20us, 1ms", delay));
  return fmt::format("uniform(0,{}{})", 2 * value, unit);
}

// False: it was interrupted.
bool run_once(const injection_request& r, const tune::figure& figure, const machine::interruption& stop,
              injection_row& row) {
  tune::command_line c{r.program, {"SHOAL_INJECT=" + row.injection, fmt::format("SHOAL_INJECT_SEED={}", r.seed)}};
  const tune::trial_end end = tune::run_trial(c, figure, 0, stop.descriptor());
  if (end.interrupted) return false;
  if (!end.value)
    throw error(errc::invalid_argument,
                fmt::format("{} with inject={}: {}", r.program.front(), row.injection, end.why_not));
  row.figures.push_back(*end.value);
  if (!row.injection.empty() && !take_report(row, end.errors))
    throw error(errc::invalid_argument,
                fmt::format("{} injects nothing: it is no program of Shoal's, or has set SHOAL_LOG to less than say",
                            r.program.front()));
  return true;
}

// Runs all in turn, as often as is asked for; the number of whole rounds, whose figures alone are kept.
int run_rounds(const injection_request& r, const tune::figure& figure, const machine::interruption& stop,
               std::vector<injection_row>& rows) {
  injection_row first;
  if (!run_once(r, figure, stop, first)) return 0;  // reads files and fills caches
  bench::progress line(rows.size() * static_cast<std::size_t>(r.repeat));
  int rounds = 0;
  std::size_t done = 0;
  bool goes_on = true;
  while (goes_on && rounds < r.repeat) {
    for (injection_row& row : rows) {
      line.show(done++, row.injection.empty() ? "nothing injected" : row.injection);
      goes_on = goes_on && run_once(r, figure, stop, row);
    }
    if (goes_on) ++rounds;
  }
  line.clear();
  for (injection_row& row : rows) row.figures.resize(static_cast<std::size_t>(rounds));
  return rounds;
}

}  // namespace

std::vector<std::string> injections_of(const injection_request& r) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& text) {
    static_cast<void>(noise::parse_injection(text, r.seed));  // says what is wrong
    all.push_back(text);
  };
  for (const std::string& event : r.events) {
    const std::string at = event == "quantum" ? fmt::format("quantum({}us)", r.quantum_us) : event;
    if (event != "replay") {
      for (const std::string& kind : r.kinds)
        for (const std::string& delay : r.delays) add(at + ":" + delay_text(kind, delay));
    } else if (r.recording.empty()) {
      throw error(errc::invalid_argument, "--inject replay needs --recording FILE, made by shoal noise --raw FILE");
    }
    if (!r.recording.empty()) add(fmt::format("{}:recorded({})", at, r.recording));
  }
  return all;
}

bool take_report(injection_row& row, const std::string& errors) {
  static const std::regex k_line("injected noise: (.*); seed ([0-9]+), signature ([0-9a-f]+)");
  static const std::regex k_part("([0-9]+) [a-z ]+, ([0-9.]+) ms in all");
  row.delays = 0;
  row.delay_ms = 0;
  bool any = false;
  for (std::sregex_iterator at(errors.begin(), errors.end(), k_line), end; at != end; ++at) {
    any = true;
    row.signature = (*at)[3];
    const std::string parts = (*at)[1];
    for (std::sregex_iterator part(parts.begin(), parts.end(), k_part); part != end; ++part) {
      row.delays += std::stoull((*part)[1]);
      row.delay_ms += std::stod((*part)[2]);
    }
  }
  return any;
}

tune::ratio slowdown(const injection_row& row, const injection_row& without, bool smaller_is_better) {
  return smaller_is_better ? tune::compare_pairs(row.figures, without.figures)
                           : tune::compare_pairs(without.figures, row.figures);
}

std::string verdict_of(const tune::ratio& slowed, double borne_percent) {
  const double most = 1 + borne_percent / 100;
  if (slowed.high < most) return "borne";
  return slowed.low > most ? "too much" : "open";
}

std::string injection_table(const std::vector<injection_row>& rows, bool smaller_is_better, double borne_percent) {
  std::size_t width = std::string_view("injected").size();
  for (const injection_row& r : rows) width = std::max(width, r.injection.size());
  std::string text = fmt::format("{:<{}} {:>10} {:>11} {:>12} {:>10} {:>16}  {}\n", "injected", width, "delays",
                                 "ms in all", "median", "slowdown", "95 % of it", "verdict");
  for (const injection_row& r : rows) {
    if (r.injection.empty()) {
      text += fmt::format("{:<{}} {:>10} {:>11} {:>12.5g}\n", "nothing", width, "", "", tune::median(r.figures));
      continue;
    }
    const tune::ratio s = slowdown(r, rows.front(), smaller_is_better);
    text += fmt::format("{:<{}} {:>10} {:>11.3f} {:>12.5g} {:>+9.1f}% {:>+7.1f} {:>+7.1f}%  {}\n", r.injection, width,
                        r.delays, r.delay_ms, tune::median(r.figures), (s.mean - 1) * 100, (s.low - 1) * 100,
                        (s.high - 1) * 100, verdict_of(s, borne_percent));
  }
  return text;
}

std::string injection_picture(const std::vector<injection_row>& rows, bool smaller_is_better, double borne_percent) {
  constexpr double k_left = 320, k_width = 420, k_row = 20;
  trace::drawing d;
  d.text(10, 20, "slowdown by injected noise", "start", 14);
  double most = borne_percent * 2;
  for (const injection_row& r : rows)
    if (!r.injection.empty()) most = std::max(most, (slowdown(r, rows.front(), smaller_is_better).mean - 1) * 100);
  const auto place = [&](double percent) { return k_left + std::clamp(percent / most, 0.0, 1.0) * k_width; };
  double y = 34;
  for (const injection_row& r : rows) {
    if (r.injection.empty()) continue;
    const tune::ratio s = slowdown(r, rows.front(), smaller_is_better);
    const std::string verdict = verdict_of(s, borne_percent);
    d.text(k_left - 8, y + 13, r.injection, "end", 11);
    d.box(k_left, y + 3, place((s.mean - 1) * 100) - k_left, k_row - 6,
          verdict == "borne"  ? "#228833"
          : verdict == "open" ? "#ccbb44"
                              : "#ee6677",
          fmt::format("{:.1f} to {:.1f} %", (s.low - 1) * 100, (s.high - 1) * 100));
    d.text(place((s.mean - 1) * 100) + 6, y + 13, fmt::format("{:+.1f} %", (s.mean - 1) * 100), "start", 11);
    y += k_row;
  }
  d.line(place(borne_percent), 28, place(borne_percent), y + 2);
  d.text(place(borne_percent), y + 14, fmt::format("{:g} %", borne_percent), "middle", 11);
  return d.finish(k_left + k_width + 80, y + 22);
}

int run_injection(const injection_request& r) {
  if (r.program.empty()) throw error(errc::invalid_argument, "--inject needs a program of Shoal's, after --");
  const tune::figure figure = tune::parse_figure(r.figure);
  if (!r.picture.empty()) bench::require_writable(r.picture, "the picture");
  std::vector<injection_row> rows(1);
  for (std::string& text : injections_of(r)) rows.push_back({std::move(text), {}, 0, 0, {}});
  bench::report result("shoal noise --inject: how much a program slows down with injected delays");
  result.parameter("figure", r.figure);
  result.parameter("borne_percent", r.borne_percent);
  result.parameter("seed", r.seed);
  const bench::measuring_options measuring{.repeat = r.repeat, .seconds = 0, .json = r.json};
  result.begin(measuring);
  const machine::interruption stop;
  const int rounds = run_rounds(r, figure, stop, rows);
  const int status = machine::exit_status{0, stop.signal()}.shell_code();
  constexpr int k_fewest = 2;  // that give bounds
  if (rounds < r.repeat) base::write_line("", fmt::format("interrupted after {} of {} rounds", rounds, r.repeat));
  if (rounds < k_fewest) return status;
  fmt::print(r.json == "-" ? stderr : stdout, "{}\n", injection_table(rows, figure.smaller_is_better, r.borne_percent));
  for (const injection_row& row : rows) {
    const std::string name = row.injection.empty() ? "nothing" : row.injection;
    for (const double f : row.figures) result.record(name, figure.is == tune::figure::kind::time ? "s" : "", f);
    if (row.injection.empty()) continue;
    result.record("slowdown " + name, "", slowdown(row, rows.front(), figure.smaller_is_better).mean);
    result.parameter("signature " + name, row.signature);
  }
  if (!r.picture.empty())
    runtime::write_whole_file(r.picture, "the picture",
                              injection_picture(rows, figure.smaller_is_better, r.borne_percent));
  const int written = r.json.empty() ? 0 : result.finish(measuring);
  return stop.signal() != 0 ? status : written;
}

}  // namespace shoal::tools
