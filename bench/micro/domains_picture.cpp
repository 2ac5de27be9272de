// SPDX-License-Identifier: Apache-2.0
// The results of `shoal bench domains` as SVG: panels with positions from left to right and a logarithmic scale.
#include <algorithm>
#include <array>
#include <cmath>

#include "bench/micro/domains.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {
namespace {

using trace::drawing;

constexpr double k_panel_width = 560;
constexpr double k_panel_height = 360;
constexpr double k_left = 70;
constexpr double k_inner_width = 340;
constexpr double k_inner_height = 250;
constexpr std::array k_colours = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"};

bool is_there(double value) { return std::isfinite(value) && value > 0; }

struct scale {
  double low = 1;
  double high = 10;
  double bottom = 0;

  scale(const domains_panel& p, double lowest_y) : bottom(lowest_y) {
    double least = 1e300, most = 0;
    for (const domains_curve& c : p.curves)
      for (const double v : c.values)
        if (is_there(v)) {
          least = std::min(least, v);
          most = std::max(most, v);
        }
    if (most == 0) return;
    low = std::pow(10, std::floor(std::log10(least)));
    high = std::pow(10, std::ceil(std::log10(most)));
    if (high <= low) high = low * 10;
  }
  double at(double value) const {
    const double part = std::log(value / low) / std::log(high / low);
    return bottom - part * k_inner_height;
  }
};

void draw(drawing& d, const domains_panel& p, double left, double top) {
  d.text(left, top + 14, p.title, "start", 14);
  const double x0 = left + k_left;
  const scale y(p, top + 40 + k_inner_height);
  for (double v = y.low; v <= y.high * 1.001; v *= 10) {
    d.line(x0, y.at(v), x0 + k_inner_width, y.at(v), "#dddddd");
    d.text(x0 - 6, y.at(v) + 4, fmt::format("{:g}", v), "end", 11);
  }
  const double step = k_inner_width / static_cast<double>(std::max<std::size_t>(p.places.size(), 1));
  const auto x = [&](std::size_t i) { return x0 + step * (static_cast<double>(i) + 0.5); };
  for (std::size_t i = 0; i < p.places.size(); ++i)
    d.text(x(i), y.bottom + 16 + (i % 2 == 1 && p.places.size() > 4 ? 13 : 0), p.places[i], "middle", 11);
  for (std::size_t c = 0; c < p.curves.size(); ++c) {
    const domains_curve& curve = p.curves[c];
    const char* const colour = k_colours[c % k_colours.size()];
    double from_x = 0, from_y = 0;
    bool joined = false;
    for (std::size_t i = 0; i < curve.values.size() && i < p.places.size(); ++i) {
      const double v = curve.values[i];
      if (!is_there(v)) {
        joined = false;
        continue;
      }
      if (joined) d.line(from_x, from_y, x(i), y.at(v), colour);
      d.box(x(i) - 3, y.at(v) - 3, 6, 6, colour, fmt::format("{}, {}: {:.4g}", curve.name, p.places[i], v));
      from_x = x(i);
      from_y = y.at(v);
      joined = true;
    }
    const double key = top + 50 + 18 * static_cast<double>(c);
    d.box(x0 + k_inner_width + 12, key - 9, 10, 10, colour);
    d.text(x0 + k_inner_width + 27, key, curve.name, "start", 11);
  }
}

}  // namespace

std::string domains_picture(const std::vector<domains_panel>& panels, std::string_view title) {
  drawing d;
  d.text(20, 30, title, "start", 18);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t line = i / 2;
    draw(d, panels[i], 20 + k_panel_width * static_cast<double>(i % 2),
         50 + k_panel_height * static_cast<double>(line));
  }
  const std::size_t all_lines = (panels.size() + 1) / 2;
  const auto lines = static_cast<double>(all_lines);
  return d.finish(2 * k_panel_width + 40, 60 + k_panel_height * lines);
}

}  // namespace shoal::bench
