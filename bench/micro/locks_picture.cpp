// SPDX-License-Identifier: Apache-2.0
// The results of `shoal bench locks` as SVG: a row for each kind, three columns with logarithmic scales.
#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/micro/locks.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {
namespace {

using trace::drawing;

constexpr double k_width = 1080;
constexpr double k_row = 20;
constexpr double k_top = 96;
constexpr const char* k_time = "#4477aa";
constexpr const char* k_middle = "#ccbb44";
constexpr const char* k_tail = "#ee6677";
constexpr const char* k_package = "#228833";

// A logarithmic scale over whole powers of ten.
struct column {
  double left;
  double right;
  double low = 1;
  double high = 10;

  void cover(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, std::pow(10, std::floor(std::log10(value))));
    high = std::max(high, std::pow(10, std::ceil(std::log10(value))));
  }
  double at(double value) const {
    if (!(value > low)) return left;
    return left + std::log(std::min(value, high) / low) / std::log(high / low) * (right - left);
  }
  void axis(drawing& d, double bottom, std::string_view title) const {
    for (double v = low; v <= high * 1.001; v *= 10) {
      d.line(at(v), k_top - 6, at(v), bottom, "#dddddd");
      d.text(at(v), bottom + 15, fmt::format("{:g}", v), "middle", 11);
    }
    d.text(left, k_top - 14, title, "start", 13);
  }
};

void legend(drawing& d, double x, double y, const char* colour, std::string_view words) {
  d.box(x, y - 9, 10, 10, colour, words);
  d.text(x + 15, y, words, "start", 11);
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "none"; }

}  // namespace

std::string locks_picture(const std::vector<lock_row>& rows, std::string_view wait) {
  drawing d;
  d.text(20, 30, fmt::format("Locks under contention, waiting: {}", wait), "start", 18);
  column rate{150, 430};
  column waits{480, 760, 0.1, 10};
  column bias{810, 1050, 0.1, 10};
  for (const lock_row& r : rows) {
    rate.cover(r.ns_per_acquisition);
    for (const double v : {r.wait_p50_us, r.wait_p99_us, r.wait_max_us}) waits.cover(v);
    for (const double v : {r.bias_core, r.bias_package}) bias.cover(v);
  }
  bias.low = std::max(bias.low, 0.01);
  const double bottom = k_top + static_cast<double>(rows.size()) * k_row + 4;
  rate.axis(d, bottom, "ns per acquisition");
  waits.axis(d, bottom, "waiting time in us");
  bias.axis(d, bottom, "bias factors; 1 is fair");
  legend(d, 480, 62, k_time, "half of all");
  legend(d, 580, 62, k_middle, "99 of 100");
  legend(d, 680, 62, k_tail, "longest");
  legend(d, 810, 62, k_time, "core");
  legend(d, 880, 62, k_package, "package");
  d.line(bias.at(1), k_top - 6, bias.at(1), bottom, "#444444");
  double y = k_top;
  unsigned threads = rows.empty() ? 0 : rows.front().threads;
  for (const lock_row& r : rows) {
    if (r.threads != threads) d.line(20, y - 2, k_width - 20, y - 2, "#999999");
    threads = r.threads;
    d.text(140, y + 12, fmt::format("{} x {}", r.kind, r.threads), "end");
    d.box(rate.left, y + 2, rate.at(r.ns_per_acquisition) - rate.left, 12, k_time,
          fmt::format("{}: {} ns", r.kind, number(r.ns_per_acquisition)));
    const std::string said = fmt::format("{}: p50 {} us, p99 {} us, max {} us", r.kind, number(r.wait_p50_us),
                                         number(r.wait_p99_us), number(r.wait_max_us));
    d.box(waits.at(r.wait_p99_us), y + 7, waits.at(r.wait_max_us) - waits.at(r.wait_p99_us), 2, k_tail, said);
    d.box(waits.at(r.wait_p50_us), y + 5, waits.at(r.wait_p99_us) - waits.at(r.wait_p50_us), 6, k_middle, said);
    d.box(waits.at(r.wait_p50_us) - 2, y + 2, 4, 12, k_time, said);
    d.box(waits.at(r.wait_max_us) - 1, y + 4, 2, 8, k_tail, said);
    if (std::isfinite(r.bias_core))
      d.box(bias.at(r.bias_core) - 4, y + 3, 5, 10, k_time, fmt::format("{}: core {}", r.kind, number(r.bias_core)));
    if (std::isfinite(r.bias_package))
      d.box(bias.at(r.bias_package), y + 3, 5, 10, k_package,
            fmt::format("{}: package {}", r.kind, number(r.bias_package)));
    y += k_row;
  }
  return d.finish(k_width, bottom + 30);
}

}  // namespace shoal::bench
