// SPDX-License-Identifier: Apache-2.0
// A table of text with aligned columns. Who may call: anybody; it allocates. Never switches tasks.
// Test: tests/unit/base/table_test.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal::base {

class table {
public:
  using row = std::vector<std::string>;
  explicit table(row heading) : rows_{std::move(heading)} {}

  /// With as many cells as the heading.
  void add(row cells) { rows_.push_back(std::move(cells)); }

  /// Without a line feed at the end, and without blanks at the ends of lines.
  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const row& r : rows_)
      for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
    std::string all;
    for (const row& r : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format(" {:<{}} ", r[i], widths[i]);
      if (!all.empty()) all += '\n';
      all += line.substr(0, line.find_last_not_of(' ') + 1);
    }
    return all;
  }

private:
  std::vector<row> rows_;
};

/// "250 ms", "2.1 s"
inline std::string short_duration(std::uint64_t ns) {
  const double s = static_cast<double>(ns) * 1e-9;
  return s < 1 ? fmt::format("{:.0f} ms", s * 1e3) : fmt::format("{:.1f} s", s);
}

}  // namespace shoal::base
