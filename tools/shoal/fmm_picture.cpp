// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/fmm_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/drawing.hpp"

namespace shoal::tools {
namespace {

struct share {
  const char* name;
  const char* colour;
  double seconds;
};

// Work as long as without tasks, what it takes longer with them, scheduling, and idle workers.
std::array<share, 4> shares_of(const profile& p) {
  const profile_worker sum = p.total();
  const double longer = std::clamp(p.inflation_seconds().value_or(0), 0.0, sum.work_seconds);
  return {{{"work", "#4477aa", sum.work_seconds - longer},
           {"inflation", "#ee6677", longer},
           {"scheduling", "#ccbb44", sum.scheduling_seconds()},
           {"idle", "#dddddd", sum.idle_seconds()}}};
}

double sum_of(const std::array<share, 4>& all) {
  double sum = 0;
  for (const share& s : all) sum += s.seconds;
  return std::max(sum, 1e-12);
}

}  // namespace

std::string fmm_table(const std::vector<fmm_row>& rows, double serial_seconds) {
  std::string text = fmt::format("{:<12} {:>7} {:>9} {:>9} {:>9} {:>10} {:>10} {:>8}\n", "form", "workers", "seconds",
                                 "speed-up", "work", "inflation", "scheduling", "idle");
  text += fmt::format("{:<12} {:>7} {:>9.4f} {:>9.2f}\n", "serial", 1, serial_seconds, 1.0);
  for (const fmm_row& r : rows) {
    const auto shares = shares_of(r.measured);
    const double all = sum_of(shares);
    text += fmt::format("{:<12} {:>7} {:>9.4f} {:>9.2f} {:>8.1f}% {:>9.1f}% {:>9.1f}% {:>7.1f}%\n", r.form, r.workers,
                        r.measured.wall_seconds, serial_seconds / std::max(r.measured.wall_seconds, 1e-12),
                        shares[0].seconds / all * 100, shares[1].seconds / all * 100, shares[2].seconds / all * 100,
                        shares[3].seconds / all * 100);
  }
  return text;
}

std::string fmm_picture(const std::vector<fmm_row>& rows, double serial_seconds) {
  constexpr double k_left = 120, k_shares = 200, k_gap = 30, k_time = 420, k_height = 44, k_row = 62;
  trace::drawing d;
  d.text(10, 20, fmt::format("fast multipole method: serial {:.4f} s", serial_seconds), "start", 14);
  double longest = 1e-12;
  for (const fmm_row& r : rows) longest = std::max(longest, r.measured.wall_seconds);
  double x = 10;
  for (const share& s : shares_of({})) {
    d.box(x, 32, 10, 10, s.colour);
    d.text(x + 14, 41, s.name, "start", 11);
    x += 82;
  }
  const double time_left = k_left + k_shares + k_gap;
  d.text(time_left, 41, "workers that run tasks, over time", "start", 11);
  double y = 54;
  for (const fmm_row& r : rows) {
    d.text(k_left - 8, y + 18, r.form, "end");
    d.text(k_left - 8, y + 34, fmt::format("{} worker{}", r.workers, r.workers == 1 ? "" : "s"), "end", 10);
    const auto shares = shares_of(r.measured);
    double left = k_left;
    for (const share& s : shares) {
      const double width = s.seconds / sum_of(shares) * k_shares;
      d.box(left, y, width, k_height, s.colour, fmt::format("{}: {:.1f} %", s.name, s.seconds / sum_of(shares) * 100));
      left += width;
    }
    const double width = r.measured.wall_seconds / longest * k_time;
    d.box(time_left, y, width, k_height, "#f4f4f4");
    const auto& running = r.measured.running;
    const double step = running.empty() ? 0 : width / static_cast<double>(running.size());
    for (std::size_t i = 0, next = 0; i < running.size(); i = next) {
      while (next < running.size() && running[next] == running[i]) ++next;
      const double height = k_height * std::min(1.0, static_cast<double>(running[i]) / r.workers);
      d.box(time_left + static_cast<double>(i) * step, y + k_height - height, static_cast<double>(next - i) * step,
            height, "#4477aa", fmt::format("{} of {}", running[i], r.workers));
    }
    d.text(time_left + width + 6, y + k_height / 2 + 4,
           fmt::format("{:.4f} s, {:.2f}", r.measured.wall_seconds,
                       serial_seconds / std::max(r.measured.wall_seconds, 1e-12)),
           "start", 11);
    y += k_row;
  }
  return d.finish(time_left + k_time + 110, y + 6);
}

}  // namespace shoal::tools
