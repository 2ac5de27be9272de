// SPDX-License-Identifier: Apache-2.0
#include "launch/place_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include "shoal/error.hpp"

namespace shoal::launch {

std::optional<std::string> field_in(const std::string& text, const std::string& name) {
  const auto begin = (" " + text).find(" " + name + "=");
  if (begin == std::string::npos) return std::nullopt;
  const auto value = begin + name.size() + 1;
  return text.substr(value, text.find(' ', value) - value);
}

std::uint32_t number_in(const std::string& text, const std::string& name, const char* variable) {
  const auto value = field_in(text, name);
  std::uint32_t number = 0;
  const char* const end = value ? value->data() + value->size() : nullptr;
  if (!value || std::from_chars(value->data(), end, number).ptr != end || value->empty())
    throw error(errc::bad_input,
                fmt::format("{} lacks a number for {}; it is set by `shoal run` and not by hand", variable, name));
  return number;
}

}  // namespace shoal::launch
