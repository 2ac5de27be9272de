// SPDX-License-Identifier: Apache-2.0
// The results of `shoal bench priorities` as SVG and as text.
#include <algorithm>

#include "bench/micro/priorities.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {

std::string priorities_picture(const std::vector<priorities_panel>& panels) {
  constexpr double k_left = 230;
  constexpr double k_width = 420;
  constexpr double k_bar = 16;
  trace::drawing d;
  double y = 20;
  for (const priorities_panel& p : panels) {
    d.text(20, y, p.title, "start", 14);
    y += 12;
    double most = p.ideal_ms;
    for (const priorities_bar& b : p.bars) most = std::max({most, b.ms, b.until_ms});
    const double per_ms = most > 0 ? k_width / most : 0;
    const double top = y;
    for (const priorities_bar& b : p.bars) {
      const std::string says =
          b.until_ms > b.ms ? fmt::format("{:.2f} of {:.2f} ms", b.ms, b.until_ms) : fmt::format("{:.2f} ms", b.ms);
      d.text(k_left - 8, y + 12, b.name, "end");
      d.box(k_left, y, b.ms * per_ms, k_bar, "#4477aa", fmt::format("{}: {:.2f} ms", b.name, b.ms));
      if (b.until_ms > b.ms) d.box(k_left + b.ms * per_ms, y, (b.until_ms - b.ms) * per_ms, k_bar, "#dddddd", says);
      d.text(k_left + std::max(b.ms, b.until_ms) * per_ms + 6, y + 12, says, "start", 11);
      y += k_bar + 4;
    }
    if (p.ideal_ms > 0) {
      const double x = k_left + p.ideal_ms * per_ms;
      d.line(x, top - 2, x, y, "#ee6677");
      d.text(x, y + 12, fmt::format("ideal: {:.2f} ms", p.ideal_ms), "middle", 11, "#ee6677");
      y += 16;
    }
    y += 30;
  }
  return d.finish(k_left + k_width + 120, y);
}

std::string groups_table(const std::vector<groups_row>& rows, double ideal_ms) {
  std::string text = fmt::format("{:<12} {:>9} {:>8} {:>14} {:>14} {:>15}\n", "groups", "step, ms", "ideal",
                                 "first, ms", "others, ms", "moved workers");
  for (const groups_row& r : rows)
    text += fmt::format("{:<12} {:>9.2f} {:>7.0f}% {:>14.2f} {:>14.2f} {:>15.1f}\n", r.name, r.ms,
                        r.ms > 0 ? ideal_ms / r.ms * 100 : 0, r.first_ms, r.others_ms, r.moved);
  return text;
}

}  // namespace shoal::bench
