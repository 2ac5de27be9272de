// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bench/micro/pages.hpp"
#include "machine/memory_info.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {
namespace {

constexpr double k_of_interest = 1.02;  // a slowdown below is taken for none, as in the literature on page sizes
constexpr std::array<const char*, k_page_sizes.size()> k_size_titles = {"4 KiB", "2 MiB", "1 GiB"};

bool has_size(const std::vector<page_row>& rows, std::size_t workload, std::size_t k) {
  return std::ranges::any_of(rows, [&](const page_row& r) { return r.cells[workload][k].value > 0; });
}

bool has_misses(const std::vector<page_row>& rows, std::size_t workload) {
  return std::ranges::any_of(rows, [&](const page_row& r) { return r.cells[workload][0].misses.has_value(); });
}

std::string workload_table(const std::vector<page_row>& rows, std::size_t w) {
  const bool misses = has_misses(rows, w);
  std::string text = fmt::format("{}\n{:>10} {:>8}", k_page_workloads[w].title, "table", k_size_titles[0]);
  for (std::size_t k = 1; k < k_page_sizes.size(); ++k)
    if (has_size(rows, w, k)) text += fmt::format(" {:>8} {:>6} {:>6}", k_size_titles[k], "ratio", "given");
  if (misses) text += "   TLB misses per access";
  text += '\n';
  for (const page_row& r : rows) {
    text += fmt::format("{:>10} {:>8.2f}", machine::describe_bytes(r.bytes), r.cells[w][0].value);
    for (std::size_t k = 1; k < k_page_sizes.size(); ++k) {
      if (!has_size(rows, w, k)) continue;
      const page_cell& cell = r.cells[w][k];
      text += cell.value > 0
                  ? fmt::format(" {:>8.2f} {:>6.2f} {:>5.0f}%", cell.value, slowdown(r, w, k), cell.given * 100)
                  : fmt::format(" {:>8} {:>6} {:>6}", "-", "-", "-");
    }
    if (misses)
      for (const page_cell& cell : r.cells[w])
        if (cell.misses) text += fmt::format(" {:>8.3f}", *cell.misses);
    text += '\n';
  }
  return text;
}

}  // namespace

double slowdown(const page_row& row, std::size_t workload, std::size_t k) {
  const auto& cells = row.cells[workload];
  if (cells[0].value <= 0 || cells[k].value <= 0) return 0;
  return k_page_workloads[workload].more_is_better ? cells[k].value / cells[0].value : cells[0].value / cells[k].value;
}

std::string pages_table(const std::vector<page_row>& rows) {
  std::string text;
  for (std::size_t w = 0; w < k_page_workloads.size(); ++w)
    if (has_size(rows, w, 0)) text += workload_table(rows, w) + '\n';
  const auto first = std::ranges::find_if(
      rows, [](const page_row& r) { return slowdown(r, 0, 1) > k_of_interest && slowdown(r, 1, 1) > k_of_interest; });
  text += first == rows.end() ? "ordinary pages cost less than 2 % at all these sizes\n"
                              : fmt::format("from {} on, ordinary pages cost more than 2 % of random accesses\n",
                                            machine::describe_bytes(first->bytes));
  return text;
}

std::string pages_picture(const std::vector<page_row>& rows) {
  constexpr double k_left = 60;
  constexpr double k_width = 640;
  constexpr double k_height = 260;
  constexpr double k_top = 50;
  trace::drawing d;
  d.text(k_left, 22, "ordinary pages against 2 MiB pages: how much slower", "start", 14);
  double most = 1.1;
  double least = 0.9;
  for (const page_row& r : rows) {
    for (std::size_t w = 0; w < k_page_workloads.size(); ++w) {
      const double ratio = slowdown(r, w, 1);
      most = std::max(most, ratio);
      if (ratio > 0) least = std::min(least, ratio);
    }
  }
  const auto y_of = [&](double ratio) { return k_top + k_height * (1 - (ratio - least) / (most - least)); };
  for (double ratio = 1; ratio <= most; ratio += most > 2 ? 0.5 : 0.1) {
    d.line(k_left, y_of(ratio), k_left + k_width, y_of(ratio), "#dddddd");
    d.text(k_left - 6, y_of(ratio) + 4, fmt::format("{:.1f}", ratio), "end");
  }
  const double step = rows.size() > 1 ? k_width / static_cast<double>(rows.size() - 1) : 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    d.text(k_left + step * static_cast<double>(i), k_top + k_height + 18, machine::describe_bytes(rows[i].bytes),
           "middle", 11);
  double x = k_left;
  for (std::size_t w = 0; w < k_page_workloads.size(); ++w) {
    std::string path;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const double ratio = slowdown(rows[i], w, 1); ratio > 0)
        path += fmt::format("{}{:.1f},{:.1f} ", path.empty() ? "M" : "L", k_left + step * static_cast<double>(i),
                            y_of(ratio));
    if (path.empty()) continue;
    d.path(path, "none", k_page_workloads[w].colour);
    d.box(x, 32, 10, 10, k_page_workloads[w].colour);
    d.text(x + 14, 41, k_page_workloads[w].in_picture);
    x += 34 + 6.5 * static_cast<double>(std::string_view(k_page_workloads[w].in_picture).size());
  }
  return d.finish(k_left + k_width + 60, k_top + k_height + 30);
}

}  // namespace shoal::bench
