// SPDX-License-Identifier: Apache-2.0
// A drawing of boxes, lines and text, as SVG. Coordinates in points from the upper left corner.
// Who may call: one thread at a time. Text is not escaped: it must not contain characters that XML reserves.
// Tests: tests/unit/trace/profile_text_test.cpp, tests/unit/bench/locks_test.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace shoal::trace {

class drawing {
public:
  void text(double x, double y, std::string_view words, std::string_view anchor = "start", int size = 12,
            std::string_view colour = "#222222") {
    fmt::format_to(std::back_inserter(body_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                   anchor, size, colour, words);
  }
  void box(double x, double y, double width, double height, std::string_view colour, std::string_view says = "") {
    fmt::format_to(
        std::back_inserter(body_),
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}</title></rect>\n", x,
        y, std::max(width, 0.0), height, colour, says);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour = "#444444") {
    fmt::format_to(std::back_inserter(body_),
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                   colour);
  }
  void path(const std::string& steps, std::string_view fill, std::string_view stroke) {
    fmt::format_to(std::back_inserter(body_), "<path d=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n", steps, fill, stroke);
  }
  std::string finish(double width, double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"sans-serif\" fill=\"#222222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}"
        "</svg>\n",
        width, height, body_);
  }

private:
  std::string body_;
};

}  // namespace shoal::trace
