// SPDX-License-Identifier: Apache-2.0
#include "trace/page.hpp"

#include <fmt/format.h>

namespace shoal::trace {
namespace {

constexpr std::string_view k_style = R"(
body { font-family: sans-serif; margin: 1.5em auto; max-width: 1100px; color: #222 }
table { border-collapse: collapse; margin: .5em 0 1.5em }
td, th { padding: .15em .7em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
canvas { width: 100%; height: 220px; border: 1px solid #ccc; display: block }
pre { overflow: auto; max-height: 24em; background: #f6f6f6; padding: .6em }
button { margin-right: .4em } button.on { font-weight: bold }
.key span { display: inline-block; margin-right: 1.2em }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em }
.tip { min-height: 1.4em; font-size: 90% }
.small { display: inline-block; margin: 0 1em 1em 0 }
)";

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string to_html(const page& p) {
  const std::string title = escaped_html(p.title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>\n"
      "<body>\n<h1>{0}</h1>\n{2}<script>\n{3}\n{4}</script>\n</body></html>\n",
      title, k_style, p.body, p.data, p.script);
}

}  // namespace shoal::trace
