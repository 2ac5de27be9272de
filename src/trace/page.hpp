// SPDX-License-Identifier: Apache-2.0
// A page for a browser in one file, which works offline: text, drawings, data and a script, and the style that all
// pages have. Who may call: any thread. Never switches tasks; nothing is written. Test: tests/unit/trace/page_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace shoal::trace {

/// With the characters that HTML reserves replaced.
std::string escaped_html(std::string_view text);

struct page {
  std::string title;  // plain text
  std::string body;   // HTML
  std::string data;   // statements that define what the script draws; empty: none
  std::string_view script;
};
std::string to_html(const page& p);

}  // namespace shoal::trace
