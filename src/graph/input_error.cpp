// SPDX-License-Identifier: Apache-2.0
#include "graph/input_error.hpp"

#include <fmt/format.h>

#include "shoal/error.hpp"

namespace shoal::graph {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  result += text.size() > longest ? "...'" : "'";
  return result;
}

void refuse(std::string_view file, std::string_view reason) {
  throw error(errc::bad_input, fmt::format("{}: {}", file, reason));
}

void refuse(std::string_view file, std::uint64_t line, std::string_view reason) {
  throw error(errc::bad_input, fmt::format("{}:{}: {}", file, line, reason));
}

}  // namespace shoal::graph
