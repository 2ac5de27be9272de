// SPDX-License-Identifier: Apache-2.0
// The profile of ranks as SVG: a bar for each rank, and who has sent how much to whom.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/drawing.hpp"
#include "trace/ranks_profile.hpp"

namespace shoal::trace {
namespace {

constexpr double k_width = 960;
constexpr double k_left = 90;
constexpr double k_plot = 840;
constexpr double k_matrix = 480;
constexpr std::size_t k_most_bars = 128;  // of more ranks, neighbours share one
constexpr std::size_t k_most_cells = 96;  // in a row of the matrix

struct part {
  const char* name;
  const char* colour;
  double rank_row::*seconds;
};
constexpr std::array<part, 4> k_parts{{{"compute", "#228833", &rank_row::compute_seconds},
                                       {"copy", "#4477aa", &rank_row::copy_seconds},
                                       {"library", "#ee6677", &rank_row::library_seconds},
                                       {"wait", "#cccccc", &rank_row::wait_seconds}}};
constexpr const char* k_ready = "#aaaaaa";

std::string names(const ranks_profile& p, std::size_t first, std::size_t end) {
  return end - first == 1 ? fmt::format("rank {}", p.ranks[first].rank)
                          : fmt::format("ranks {} to {}", p.ranks[first].rank, p.ranks[end - 1].rank);
}

// Bars from the top on; returns where they end.
double draw_bars(drawing& d, double top, const ranks_profile& p) {
  const std::size_t count = std::min(p.ranks.size(), k_most_bars);
  const double height = std::clamp(400.0 / static_cast<double>(std::max<std::size_t>(count, 1)), 4.0, 22.0);
  double longest = 0;
  for (const rank_row& r : p.ranks) longest = std::max(longest, r.seconds());
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t first = b * p.ranks.size() / count;
    const std::size_t end = (b + 1) * p.ranks.size() / count;
    const double y = top + static_cast<double>(b) * height;
    const double scale = longest > 0 ? k_plot / longest / static_cast<double>(end - first) : 0;
    const std::string who = names(p, first, end);
    double x = k_left;
    double ready = 0;
    for (std::size_t i = first; i < end; ++i) ready += p.ranks[i].ready_seconds;
    for (const part& one : k_parts) {
      double seconds = 0;
      for (std::size_t i = first; i < end; ++i) seconds += p.ranks[i].*one.seconds;
      d.box(x, y, seconds * scale, height - 1, one.colour,
            fmt::format("{}: {} {:.6f} s", who, one.name, seconds / static_cast<double>(end - first)));
      x += seconds * scale;
    }
    d.box(x - ready * scale, y, ready * scale, height - 1, k_ready,
          fmt::format("{}: ready {:.6f} s", who, ready / static_cast<double>(end - first)));
    if (height >= 12 || b % 8 == 0)
      d.text(k_left - 8, y + std::min(height, 12.0), fmt::format("{}", p.ranks[first].rank), "end", 11);
  }
  const double bottom = top + static_cast<double>(count) * height;
  d.line(k_left, bottom, k_left + k_plot, bottom);
  d.text(k_left + k_plot, bottom + 16, fmt::format("{:.3f} s", longest), "end", 11);
  return bottom + 40;
}

double draw_matrix(drawing& d, double top, const ranks_profile& p) {
  int last = 0;
  for (const rank_row& r : p.ranks) {
    last = std::max(last, r.rank);
    for (const rank_messages& m : r.sent) last = std::max(last, m.to);
  }
  const auto ranks = static_cast<std::size_t>(last) + 1;
  const std::size_t cells = std::min(ranks, k_most_cells);
  std::vector<rank_messages> sums(cells * cells);
  std::uint64_t most = 0;
  for (const rank_row& r : p.ranks) {
    for (const rank_messages& m : r.sent) {
      rank_messages& sum = sums[static_cast<std::size_t>(r.rank) * cells / ranks * cells +
                                static_cast<std::size_t>(m.to) * cells / ranks];
      sum.count += m.count;
      sum.bytes += m.bytes;
      most = std::max(most, sum.bytes);
    }
  }
  d.text(k_left, top, "Messages: from the rank of the row to that of the column; darker is more bytes", "start", 14);
  top += 12;
  const double side = std::min(k_matrix / static_cast<double>(cells), 40.0);
  for (std::size_t row = 0; row < cells; ++row) {
    for (std::size_t column = 0; column < cells; ++column) {
      const rank_messages& m = sums[row * cells + column];
      const double x = k_left + static_cast<double>(column) * side;
      const double y = top + static_cast<double>(row) * side;
      if (m.count == 0) continue;
      const double dark =
          most > 0 ? std::log1p(static_cast<double>(m.bytes)) / std::log1p(static_cast<double>(most)) : 1;
      const int level = 235 - static_cast<int>(200 * std::clamp(dark, 0.0, 1.0));
      d.box(x, y, side, side, fmt::format("#{0:02x}{0:02x}ff", level),
            fmt::format("{} to {}: {} messages, {} bytes", row * ranks / cells, column * ranks / cells, m.count,
                        m.bytes));
    }
  }
  const double end = static_cast<double>(cells) * side;
  d.line(k_left, top, k_left + end, top);
  d.line(k_left, top, k_left, top + end);
  d.line(k_left + end, top, k_left + end, top + end);
  d.line(k_left, top + end, k_left + end, top + end);
  d.text(k_left - 8, top + 10, "0", "end", 11);
  d.text(k_left - 8, top + end, fmt::format("{}", last), "end", 11);
  return top + end + 30;
}

}  // namespace

std::string ranks_picture(const ranks_profile& p) {
  drawing d;
  d.text(k_left, 30, "Where the time of the ranks went", "start", 18);
  double x = k_left;
  const auto legend = [&](const char* colour, const char* name) {
    d.box(x, 44, 14, 14, colour, name);
    d.text(x + 20, 56, name);
    x += 110;
  };
  for (const part& one : k_parts) legend(one.colour, one.name);
  legend(k_ready, "wait, but ready");
  double y = draw_bars(d, 72, p);
  y = draw_matrix(d, y + 10, p);
  return d.finish(k_width, y);
}

}  // namespace shoal::trace
