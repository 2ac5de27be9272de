// SPDX-License-Identifier: Apache-2.0
#include "tune/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/counted.hpp"
#include "trace/drawing.hpp"
#include "trace/page.hpp"

namespace shoal::tune {
namespace {

// From the best to the worst: dark to light, so that it is read without colours, too.
std::string colour_of(double share) {
  constexpr std::array<std::array<double, 3>, 4> k_steps = {
      {{0, 60, 90}, {30, 130, 140}, {150, 200, 130}, {255, 240, 190}}};
  const double place = std::clamp(share, 0.0, 1.0) * (k_steps.size() - 1);
  const auto step = std::min<std::size_t>(static_cast<std::size_t>(place), k_steps.size() - 2);
  const double part = place - static_cast<double>(step);
  std::array<int, 3> c{};
  for (std::size_t i = 0; i < 3; ++i)
    c[i] = static_cast<int>(std::lround(k_steps[step][i] + (k_steps[step + 1][i] - k_steps[step][i]) * part));
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

bool is_good(const measured_point& p) { return !p.failed && !p.values.empty(); }

}  // namespace

std::string outcome_table(const space& s, const search_result& r, std::string_view unit, std::size_t most) {
  std::string text = fmt::format("{:>12} {:>12} {:>12} {:>5} {:>8}  point\n", fmt::format("median {}", unit), "least",
                                 "greatest", "runs", "ratio");
  if (r.points.empty() || !is_good(r.points.front())) return "every point failed\n";
  const double best = r.points.front().value();
  const auto of_best = std::ranges::minmax(r.points.front().values);
  std::size_t shown = 0;
  for (const measured_point& p : r.points) {
    if (!is_good(p) || shown == most) break;
    ++shown;
    const auto [least, greatest] = std::ranges::minmax(p.values);
    const bool is_alike = shown > 1 && least <= of_best.max && greatest >= of_best.min;
    text += fmt::format("{:>12.6g} {:>12.6g} {:>12.6g} {:>5} {:>8.3f}  {}{}\n", p.value(), least, greatest,
                        p.values.size(), p.value() / best, s.describe(p.where), is_alike ? " (as good, perhaps)" : "");
  }
  const auto good = static_cast<std::size_t>(std::ranges::count_if(r.points, is_good));
  if (good > shown) text += fmt::format("and {} more\n", good - shown);
  if (good < r.points.size()) text += fmt::format("{} failed\n", base::counted(r.points.size() - good, "point"));
  return text;
}

std::vector<std::pair<std::string, std::string>> settings_at(const space& s, const point& p) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const parameter& one = s.parameters()[i];
    if (one.kind != parameter_kind::setting) continue;
    const std::string& value = one.values[p[i]];
    found.emplace_back(one.name, one.numbers.empty() ? fmt::format("\"{}\"", value) : value);
  }
  return found;
}

std::string outcome_map(const space& s, const search_result& r, std::size_t x, std::size_t y, bool smaller_is_better,
                        std::string_view unit) {
  const parameter& across = s.parameters()[x];
  const parameter& up = s.parameters()[y];
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> cells;
  double best = 0;
  double worst = 0;
  for (const measured_point& p : r.points) {
    if (!is_good(p)) continue;
    const double v = p.value();
    const auto [at, is_new] = cells.try_emplace({p.where[x], p.where[y]}, v);
    if (!is_new && (smaller_is_better ? v < at->second : v > at->second)) at->second = v;
  }
  for (const auto& [place, v] : cells) {
    if (best == 0 || (smaller_is_better ? v < best : v > best)) best = v;
    if (worst == 0 || (smaller_is_better ? v > worst : v < worst)) worst = v;
  }
  constexpr double k_left = 110;
  constexpr double k_top = 60;
  const double width = std::clamp(760.0 / static_cast<double>(across.values.size()), 14.0, 70.0);
  const double height = std::clamp(460.0 / static_cast<double>(up.values.size()), 14.0, 36.0);
  const double bottom = k_top + height * static_cast<double>(up.values.size());
  const double right = k_left + width * static_cast<double>(across.values.size());
  trace::drawing d;
  d.text(k_left, 20,
         trace::escaped_html(fmt::format("{} across, {} up;{} dark is best", across.name, up.name,
                                         unit.empty() ? "" : fmt::format(" {};", unit))),
         "start", 14);
  d.text(k_left, 40,
         fmt::format("best {:.6g}, worst {:.6g}; each cell is the best over all other parameters", best, worst));
  const double span = std::abs(std::log(worst / best));
  for (const auto& [place, v] : cells) {
    const double share = span > 0 ? std::abs(std::log(v / best)) / span : 0;
    const double left = k_left + width * place.first;
    const double top = bottom - height * (place.second + 1);
    d.box(left, top, width - 1, height - 1, colour_of(share),
          trace::escaped_html(fmt::format("{} {}, {} {}: {:.6g} {}", across.name, across.values[place.first], up.name,
                                          up.values[place.second], v, unit)));
    if (width >= 40)
      d.text(left + width / 2, top + height / 2 + 4, fmt::format("{:.3g}", v), "middle", 11,
             share < 0.5 ? "#ffffff" : "#222222");
    if (v == best) {
      d.line(left, top, left + width - 1, top, "#ee6677");
      d.line(left, top + height - 1, left + width - 1, top + height - 1, "#ee6677");
      d.line(left, top, left, top + height - 1, "#ee6677");
      d.line(left + width - 1, top, left + width - 1, top + height - 1, "#ee6677");
    }
  }
  const auto label_every = [](std::size_t values, double space) {
    return std::max<std::size_t>(1,
                                 static_cast<std::size_t>(std::ceil(40.0 / space * static_cast<double>(values > 1))));
  };
  for (std::size_t i = 0; i < across.values.size(); i += label_every(across.values.size(), width))
    d.text(k_left + width * (static_cast<double>(i) + 0.5), bottom + 16, trace::escaped_html(across.values[i]),
           "middle", 11);
  for (std::size_t i = 0; i < up.values.size(); ++i)
    d.text(k_left - 6, bottom - height * (static_cast<double>(i) + 0.5) + 4, trace::escaped_html(up.values[i]), "end",
           11);
  return d.finish(std::max(right + 20, 560.0), bottom + 30);
}

}  // namespace shoal::tune
