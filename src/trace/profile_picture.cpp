// SPDX-License-Identifier: Apache-2.0
// The profile as SVG: a bar for each worker, and the activity over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "shoal/profile_result.hpp"
#include "trace/drawing.hpp"

namespace shoal {
namespace {

using trace::drawing;

constexpr double k_width = 960;
constexpr double k_left = 90;
constexpr double k_right = 930;
constexpr double k_plot = k_right - k_left;

struct piece {
  const char* name;
  const char* colour;
  double seconds;
};

constexpr const char* k_work = "#228833";
constexpr const char* k_inflation = "#ccbb44";
constexpr const char* k_scheduling = "#ee6677";
constexpr const char* k_idle = "#cccccc";
constexpr const char* k_offered = "#4477aa";

// 1, 2 or 5 times a power of ten, so that the axis has four to ten steps.
double nice_step(double span) {
  const double rough = std::max(span, 1e-9) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= rough) return m * power;
  return 10 * power;
}

void time_axis(drawing& d, double y, double seconds, std::string_view title) {
  d.line(k_left, y, k_right, y);
  const double step = nice_step(seconds);
  for (int i = 0; i * step <= seconds * 1.000001; ++i) {
    const double x = k_left + (seconds > 0 ? i * step / seconds : 0) * k_plot;
    d.line(x, y, x, y + 4);
    d.text(x, y + 17, fmt::format("{:.6g}", i * step), "middle", 11);
  }
  d.text((k_left + k_right) / 2, y + 34, title, "middle");
}

void bar(drawing& d, double y, double height, std::string_view label, const std::vector<piece>& pieces, bool labelled) {
  const double all = std::accumulate(pieces.begin(), pieces.end(), 0.0,
                                     [](double sum, const piece& p) { return sum + std::max(p.seconds, 0.0); });
  double x = k_left;
  for (const piece& p : pieces) {
    const double share = all > 0 ? std::max(p.seconds, 0.0) / all : 0;
    d.box(x, y, share * k_plot, height, p.colour,
          fmt::format("{}: {} {:.6f} s, {:.1f} %", label, p.name, p.seconds, 100 * share));
    if (labelled && share > 0.07 && height >= 14)
      d.text(x + share * k_plot / 2, y + height / 2 + 4, fmt::format("{:.1f} %", 100 * share), "middle", 11,
             p.colour == k_work ? "#ffffff" : "#222222");
    x += share * k_plot;
  }
  if (labelled) d.text(k_left - 8, y + height / 2 + 4, label, "end");
}

std::vector<piece> pieces_of(const profile_worker& w, double inflation = 0) {
  const double more = std::max(inflation, 0.0);
  return {{"work", k_work, w.work_seconds - more},
          {"inflation", k_inflation, more},
          {"scheduling", k_scheduling, w.scheduling_seconds()},
          {"idle", k_idle, w.idle_seconds()}};
}

// Averages the values into columns, at most one per point of the drawing.
std::vector<double> columns(const std::vector<std::uint32_t>& values) {
  const std::size_t count = std::min<std::size_t>(values.size(), static_cast<std::size_t>(k_plot));
  std::vector<double> means(count);
  for (std::size_t c = 0; c < count; ++c) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(c * values.size() / count);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>((c + 1) * values.size() / count);
    means[c] = std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
  }
  return means;
}

std::string steps_of(const std::vector<double>& values, double most, double bottom, double height, double share) {
  std::string d = fmt::format("M{:.1f} {:.1f}", k_left, bottom);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double y = bottom - std::min(values[i] / most, 1.0) * height;
    const auto n = static_cast<double>(values.size());
    const double x1 = k_left + static_cast<double>(i) / n * share * k_plot;
    const double x2 = k_left + static_cast<double>(i + 1) / n * share * k_plot;
    fmt::format_to(std::back_inserter(d), "L{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y, x2, y);
  }
  return d;
}

// Values over time, drawn as an area; `most` is the top of the axis.
double series(drawing& d, double y, const profile& p, const std::vector<std::uint32_t>& values, double most,
              std::string_view title, const char* colour) {
  constexpr double k_height = 130;
  const double bottom = y + 22 + k_height;
  d.text(k_left, y + 12, title, "start", 13);
  const double step = std::max(nice_step(most), 1.0);
  for (double v = 0; v <= most * 1.000001; v += step) {
    const double at = bottom - v / most * k_height;
    d.line(k_left, at, k_right, at, "#dddddd");
    d.text(k_left - 8, at + 4, fmt::format("{:.6g}", v), "end", 11);
  }
  const double covered = p.interval_seconds * static_cast<double>(values.size());
  const double share = p.wall_seconds > 0 ? std::min(covered / p.wall_seconds, 1.0) : 1.0;
  if (!values.empty()) {
    std::string steps = steps_of(columns(values), most, bottom, k_height, share);
    steps += fmt::format("L{:.1f} {:.1f}Z", k_left + share * k_plot, bottom);
    d.path(steps, colour, "none");
  }
  time_axis(d, bottom, p.wall_seconds, "time in seconds");
  return bottom + 50;
}

}  // namespace

std::string profile_picture(const profile& p) {
  drawing d;
  const profile_worker total = p.total();
  d.text(k_left, 30, "Where the time of the workers went", "start", 18);
  d.text(
      k_left, 50,
      fmt::format("{} worker{}, {:.3f} s each: {} tasks spawned, {} stolen, {} waits", p.workers.size(),
                  p.workers.size() == 1 ? "" : "s", p.wall_seconds, total.spawn.count, total.steal.count, total.left));
  const auto inflation = p.inflation_seconds();
  double x = k_left;
  for (const piece& one : pieces_of(total, inflation.value_or(0))) {
    if (std::string_view(one.name) == "inflation" && !inflation) continue;
    d.box(x, 64, 14, 14, one.colour, one.name);
    d.text(x + 20, 75, one.name);
    x += 120;
  }

  double y = 92;
  const auto count = static_cast<double>(std::max<std::size_t>(p.workers.size(), 1));
  const double pitch = std::clamp(640 / count, 2.0, 26.0);
  const auto every = static_cast<std::size_t>(std::ceil(14 / pitch));
  bar(d, y, 22, "all", pieces_of(total, inflation.value_or(0)), true);
  y += 32;
  for (std::size_t w = 0; w < p.workers.size(); ++w) {
    bar(d, y, pitch * 0.85, every > 1 ? std::to_string(w) : fmt::format("worker {}", w), pieces_of(p.workers[w]),
        w % every == 0);
    y += pitch;
  }
  y += 4;
  time_axis(d, y, p.wall_seconds, "seconds of each worker");
  y += 56;
  if (!p.running.empty()) {
    y = series(d, y, p, p.running, count, "Tasks running at once", k_work);
    const auto offered = columns(p.offered);
    const double most = std::max(offered.empty() ? 0.0 : *std::ranges::max_element(offered), 1.0);
    y = series(d, y + 6, p, p.offered, most, "Tasks lying in deques (half of a range counts as one)", k_offered);
  }
  return d.finish(k_width, y);
}

}  // namespace shoal
