// SPDX-License-Identifier: Apache-2.0
#include "base/setting_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace shoal::base {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <class T>
std::optional<T> parse_whole(std::string_view text) noexcept {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether min <= text <= max for a type that `parse` reads; an empty bound is no bound.
template <class Parse>
bool within(const setting& s, std::string_view text, Parse parse) {
  const auto value = parse(text);
  if (!value) return false;
  if (!s.min.empty() && *value < parse(s.min).value()) return false;
  return s.max.empty() || *value <= parse(s.max).value();
}

constexpr std::string_view noun(setting_type type) {
  switch (type) {
    case setting_type::boolean: return "on or off";
    case setting_type::integer: return "a whole number";
    case setting_type::size: return "a size such as 4096, 64K, 2M or 1G";
    case setting_type::real: return "a number";
    case setting_type::text: return "any text";
    case setting_type::choice: return "one of";
  }
  return "";
}

}  // namespace

std::optional<bool> parse_bool(std::string_view text) noexcept {
  if (text.size() > 5) return std::nullopt;
  std::array<char, 5> letters{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    letters[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  const std::string_view word(letters.data(), text.size());
  if (word == "on" || word == "true" || word == "yes" || word == "1") return true;
  if (word == "off" || word == "false" || word == "no" || word == "0") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_int(std::string_view text) noexcept { return parse_whole<std::int64_t>(text); }

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_whole<std::uint64_t>(text.substr(0, digits));
  const std::string lower_unit = lower(text.substr(digits, std::size_t{4}));
  std::string_view unit = lower_unit;
  if (!number) return std::nullopt;
  unsigned shift = 0;
  if (!unit.empty()) {
    switch (unit.front()) {
      case 'k': shift = 10; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      case 't': shift = 40; break;
      case 'b': break;
      default: return std::nullopt;
    }
    const bool scaled = shift != 0;
    unit.remove_prefix(1);
    if (!unit.empty() && !(scaled && (unit == "b" || unit == "ib"))) return std::nullopt;
  }
  if (*number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::optional<double> parse_real(std::string_view text) noexcept {
  const auto value = parse_whole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<double> parse_time_ns(std::string_view text) noexcept {
  constexpr std::pair<std::string_view, double> k_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double scale = 1;
  for (const auto& [unit, ns] : k_units) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    scale = ns;
    break;
  }
  const std::optional<double> value = parse_real(text);
  if (!value || !(*value >= 0)) return {};
  return *value * scale;
}

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) {
    const auto end = std::min(choices.find('|'), choices.size());
    words.push_back(choices.substr(0, end));
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return words;
}

std::string describe_range(const setting& s) {
  if (s.type == setting_type::choice) return fmt::format("one of {}", fmt::join(split_choices(s.choices), ", "));
  const std::string_view kind = noun(s.type);
  if (!s.min.empty() && !s.max.empty()) return fmt::format("{}, from {} to {}", kind, s.min, s.max);
  if (!s.min.empty()) return fmt::format("{}, at least {}", kind, s.min);
  if (!s.max.empty()) return fmt::format("{}, at most {}", kind, s.max);
  return std::string(kind);
}

bool is_acceptable(const setting& s, std::string_view text) {
  switch (s.type) {
    case setting_type::boolean: return parse_bool(text).has_value();
    case setting_type::integer: return within(s, text, parse_int);
    case setting_type::size: return within(s, text, parse_size);
    case setting_type::real: return within(s, text, parse_real);
    case setting_type::text: return true;
    case setting_type::choice: return std::ranges::count(split_choices(s.choices), text) > 0;
  }
  return false;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of optimal string alignment: two back (for transpositions), the previous one, the current
  // one.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& names) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;  // a larger distance means another word
  const std::string wanted = lower(name);
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace shoal::base
