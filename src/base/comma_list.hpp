// SPDX-License-Identifier: Apache-2.0
// A list as users write it: split at its commas, but not at those within parentheses, as in "random,nearest(50,3,1)".
// Who may call: anyone. Test: tests/unit/base/comma_list_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::base {

/// Without the blanks and tabs at both ends.
inline std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

inline std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace shoal::base
