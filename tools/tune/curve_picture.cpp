// SPDX-License-Identifier: Apache-2.0
// The picture of curve.hpp: panels below each other, axes with round numbers, logarithmic where the values grow by a
// factor.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "trace/drawing.hpp"
#include "trace/page.hpp"
#include "tune/curve.hpp"

namespace shoal::tune {
namespace {

using trace::drawing;
using trace::escaped_html;

constexpr double k_left = 90;
constexpr double k_plot_width = 520;
constexpr double k_plot_height = 300;
constexpr double k_key = 180;
constexpr double k_panel_height = k_plot_height + 90;
constexpr double k_top = 60;
constexpr std::array k_line_colours = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"};

// Values to places between two ends.
class axis {
public:
  axis(double low, double high, double from, double to, bool logarithmic)
      : low_(low), high_(high > low ? high : low + 1), from_(from), to_(to), logarithmic_(logarithmic) {}

  double at(double value) const {
    const double part =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + part * (to_ - from_);
  }
  // Round numbers between the ends.
  std::vector<double> marks() const {
    std::vector<double> all;
    if (logarithmic_) {
      const bool few = high_ / low_ < 50;
      for (double decade = std::pow(10, std::floor(std::log10(low_))); decade <= high_ * 1.001; decade *= 10)
        for (const double step : {1.0, 2.0, 5.0})
          if (const double v = decade * step; (few || step == 1) && v >= low_ * 0.999 && v <= high_ * 1.001)
            all.push_back(v);
      return all;
    }
    const double raw = (high_ - low_) / 5;
    const double decade = std::pow(10, std::floor(std::log10(raw)));
    double step = decade * 10;
    for (const double s : {5.0, 2.0, 1.0})
      if (decade * s >= raw) step = decade * s;
    for (double v = std::ceil(low_ / step) * step; v <= high_ + step * 1e-6; v += step) all.push_back(v);
    return all;
  }

private:
  double low_, high_, from_, to_;
  bool logarithmic_;
};

// Names have places of their own.
double place_of(const parameter& p, std::uint32_t value) { return p.numbers.empty() ? value : p.numbers[value]; }

axis across_of(const parameter& p) {
  const double right = k_left + k_plot_width;
  if (p.numbers.empty()) return {-0.5, static_cast<double>(p.values.size()) - 0.5, k_left, right, false};
  const auto [least, most] = std::ranges::minmax(p.numbers);
  if (p.is_geometric()) {
    const double room = std::pow(most / least, 0.04);
    return {least / room, most * room, k_left, right, true};
  }
  const double room = most > least ? (most - least) * 0.04 : 1;
  return {least - room, most + room, k_left, right, false};
}

axis up_of(const curve_panel& panel, bool logarithmic, double top) {
  const double bottom = top + k_plot_height;
  double least = 1e300;
  double most = -1e300;
  for (const auto& [where, v] : panel.values) {
    least = std::min(least, v.least);
    most = std::max(most, v.most);
  }
  if (panel.values.empty()) return {0, 1, bottom, top, false};
  if (logarithmic && least > 0) return {least / 1.15, most * 1.15, bottom, top, true};
  least = std::min(least, 0.0);
  return {least, most > least ? most + (most - least) * 0.05 : least + 1, bottom, top, false};
}

bool values_are_positive(const curve_panel& panel) {
  return std::ranges::all_of(panel.values, [](const auto& v) { return v.second.least > 0; });
}

// The curve's number: the place among all combinations of the parameters but the first.
std::vector<point> curves_of(const space& s) {
  std::vector<point> all;
  for (std::uint64_t i = 0; i < s.size(); ++i)
    if (point p = s.at(i); p[0] == 0) all.push_back(std::move(p));
  return all;
}

std::string name_of_curve(const space& s, const point& p) {
  std::string text;
  for (std::size_t i = 1; i < p.size(); ++i)
    text += fmt::format("{}{} {}", i == 1 ? "" : ", ", s.parameters()[i].name, s.parameters()[i].values[p[i]]);
  return text;
}

void draw_curve(drawing& d, const space& s, const curve_panel& panel, const point& curve, const axis& x, const axis& y,
                const char* colour) {
  const parameter& across = s.parameters()[0];
  bool joined = false;
  double before_x = 0;
  double before_y = 0;
  for (std::uint32_t i = 0; i < across.values.size(); ++i) {
    point where = curve;
    where[0] = i;
    const auto v = panel.values.find(where);
    if (v == panel.values.end()) {
      joined = false;  // a gap is shown as one
      continue;
    }
    const double at_x = x.at(place_of(across, i));
    const double at_y = y.at(v->second.median);
    if (v->second.most > v->second.least) d.line(at_x, y.at(v->second.least), at_x, y.at(v->second.most), colour);
    if (joined) d.line(before_x, before_y, at_x, at_y, colour);
    d.box(at_x - 3, at_y - 3, 6, 6, colour,
          escaped_html(fmt::format("{}: {:.4g} {} ({:.4g} to {:.4g})", s.describe(where), v->second.median, panel.unit,
                                   v->second.least, v->second.most)));
    joined = true;
    before_x = at_x;
    before_y = at_y;
  }
}

void draw_across(drawing& d, const parameter& p, const axis& x, double top) {
  const double bottom = top + k_plot_height;
  d.line(k_left, bottom, k_left + k_plot_width, bottom);
  double free_from = 0;
  for (std::uint32_t i = 0; i < p.values.size(); ++i) {
    const double at = x.at(place_of(p, i));
    d.line(at, bottom, at, bottom + 4);
    const double width = 7 * static_cast<double>(p.values[i].size());
    if (at - width / 2 < free_from) continue;
    free_from = at + width / 2 + 6;
    d.text(at, bottom + 18, escaped_html(p.values[i]), "middle", 11);
  }
  d.text(k_left + k_plot_width / 2, bottom + 38, escaped_html(p.name), "middle");
}

void draw_failed(drawing& d, const space& s, const std::map<point, std::string>& failed, const axis& x, double top) {
  for (const auto& [where, why] : failed) {
    const double at = x.at(place_of(s.parameters()[0], where[0]));
    const double y = top + k_plot_height - 8;
    d.line(at - 4, y - 4, at + 4, y + 4, "#cc3311");
    d.line(at - 4, y + 4, at + 4, y - 4, "#cc3311");
    d.box(at - 5, y - 5, 10, 10, "transparent", escaped_html(fmt::format("{}: {}", s.describe(where), why)));
  }
}

}  // namespace

std::string curve_picture(const space& s, const std::vector<curve_panel>& panels,
                          const std::map<point, std::string>& failed, std::string_view title) {
  drawing d;
  d.text(20, 28, escaped_html(title), "start", 16);
  const parameter& across = s.parameters()[0];
  const axis x = across_of(across);
  const std::vector<point> curves = curves_of(s);
  double top = k_top;
  for (const curve_panel& panel : panels) {
    const axis y = up_of(panel, across.is_geometric() && values_are_positive(panel), top);
    d.text(20, top - 10, escaped_html(panel.metric + (panel.unit.empty() ? "" : ", " + panel.unit)), "start", 13);
    for (const double mark : y.marks()) {
      d.line(k_left, y.at(mark), k_left + k_plot_width, y.at(mark), "#dddddd");
      d.text(k_left - 6, y.at(mark) + 4, fmt::format("{:g}", mark), "end", 11);
    }
    draw_across(d, across, x, top);
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const char* const colour = k_line_colours[c % k_line_colours.size()];
      draw_curve(d, s, panel, curves[c], x, y, colour);
      if (s.parameters().size() < 2) continue;
      const double key = top + 14 + 18 * static_cast<double>(c);
      d.box(k_left + k_plot_width + 16, key - 9, 10, 10, colour);
      d.text(k_left + k_plot_width + 32, key, escaped_html(name_of_curve(s, curves[c])), "start", 11);
    }
    draw_failed(d, s, failed, x, top);
    top += std::max(k_panel_height, 18 * static_cast<double>(s.parameters().size() < 2 ? 0 : curves.size()) + 60);
  }
  if (!failed.empty()) {
    d.text(k_left, top - 10, "a cross: the command failed there", "start", 11, "#cc3311");
    top += 14;
  }
  return d.finish(k_left + k_plot_width + (s.parameters().size() < 2 ? 30 : k_key), top);
}

}  // namespace shoal::tune
