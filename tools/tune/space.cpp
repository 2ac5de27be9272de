// SPDX-License-Identifier: Apache-2.0
#include "tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "base/comma_list.hpp"
#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

constexpr std::size_t k_most_values = 100'000;

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "x2", "log2", "log10".
std::optional<double> to_factor(std::string_view text) {
  if (text == "log2") return 2;
  if (text == "log10") return 10;
  return text.starts_with('x') ? to_number(text.substr(1)) : std::nullopt;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string to_text(double value) { return fmt::format("{:.12g}", value); }

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw error(errc::invalid_argument,
              fmt::format("the parameter '{}' cannot be used: {}; write NAME=LOW:HIGH, NAME=LOW:HIGH:STEP, "
                          "NAME=LOW:HIGH:xFACTOR (log2 is x2, log10 is x10), or NAME=A,B,C",
                          text, why));
}

void add_factors(parameter& p, double low, double high, double factor, std::string_view text) {
  if (low <= 0) refuse(text, "a logarithmic range begins above 0");
  if (!(factor > 1)) refuse(text, "a factor is above 1");
  if (std::log(high / low) / std::log(factor) > static_cast<double>(k_most_values))
    refuse(text, "it has too many values; give a larger factor");
  // A little more, so that rounding does not cost the last one.
  for (double v = low; v <= high * (1 + 1e-9) && p.values.size() < k_most_values; v *= factor)
    p.values.push_back(to_text(v));
}

void add_steps(parameter& p, double low, double high, double step, std::string_view text) {
  if (!(step > 0)) refuse(text, "a step is above 0");
  if ((high - low) / step > static_cast<double>(k_most_values))
    refuse(text, "it has too many values; give a larger step");
  for (std::size_t i = 0;; ++i) {
    const double v = low + static_cast<double>(i) * step;
    if (v > high + step * 1e-9) break;
    p.values.push_back(to_text(v));
  }
}

}  // namespace

parameter parse_parameter(const std::string& text, parameter_kind kind) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse(text, "there is no '=' with values after it");
  if (equals == 0) refuse(text, "there is no name before '='");
  parameter p;
  p.kind = kind;
  p.name = text.substr(0, equals);
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (kind == parameter_kind::environment && !std::ranges::all_of(p.name, is_of_name))
    refuse(text, "the name of a variable has letters, digits and _ only");
  const std::string values = text.substr(equals + 1);
  const std::vector<std::string> parts = split(values, ':');
  if (parts.size() == 1) {
    p.values = base::split_list(values);
    if (std::ranges::any_of(p.values, [](const std::string& v) { return v.empty(); })) refuse(text, "a value is empty");
  } else {
    const auto low = to_number(parts[0]);
    const auto high = to_number(parts[1]);
    if (parts.size() > 3 || !low || !high) refuse(text, "a range has numbers, LOW:HIGH");
    if (*high < *low) refuse(text, "the range ends before it begins");
    if (parts.size() == 2) {
      add_steps(p, *low, *high, 1, text);
    } else if (const auto factor = to_factor(parts[2])) {
      add_factors(p, *low, *high, *factor, text);
    } else if (const auto step = to_number(std::string_view(parts[2]).substr(parts[2].starts_with('+') ? 1 : 0))) {
      add_steps(p, *low, *high, *step, text);
    } else {
      refuse(text, fmt::format("'{}' is no step", parts[2]));
    }
  }
  auto sorted = p.values;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) refuse(text, "a value is there twice");
  for (const std::string& v : p.values)
    if (const auto n = to_number(v)) p.numbers.push_back(*n);
  if (p.numbers.size() != p.values.size()) p.numbers.clear();
  return p;
}

bool parameter::is_geometric() const {
  constexpr double k_rounding = 0.01;
  if (numbers.size() < 3 || !(numbers.front() > 0)) return false;
  const double factor = numbers[1] / numbers[0];
  if (!(factor > 1)) return false;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (std::abs(numbers[i] / numbers[i - 1] / factor - 1) > k_rounding) return false;
  return true;
}

space::space(std::vector<parameter> parameters, std::vector<expression> constraints)
    : parameters_(std::move(parameters)), constraints_(std::move(constraints)) {
  if (parameters_.empty())
    throw error(errc::invalid_argument, "nothing to tune: give --parameter NAME=VALUES at least once");
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (parameters_[i].name == parameters_[k].name)
        throw error(errc::invalid_argument, fmt::format("the parameter {} is given twice", parameters_[i].name));
  for (const expression& e : constraints_)
    for (const std::string& name : e.names()) {
      const auto at = std::ranges::find(parameters_, name, &parameter::name);
      if (at == parameters_.end())
        throw error(errc::invalid_argument,
                    fmt::format("the constraint '{}' names {}, which is no parameter", e.text(), name));
      if (at->numbers.empty())
        throw error(errc::invalid_argument,
                    fmt::format("the constraint '{}' names {}, whose values are no numbers", e.text(), name));
    }
}

std::uint64_t space::size() const noexcept {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 63;
  std::uint64_t product = 1;
  for (const parameter& p : parameters_) {
    if (product > k_most / p.values.size()) return k_most;
    product *= p.values.size();
  }
  return product;
}

bool space::allows(const point& p) const {
  const auto value_of = [&](std::string_view name) {
    const auto at = std::ranges::find(parameters_, name, &parameter::name);
    return at->numbers[p[static_cast<std::size_t>(at - parameters_.begin())]];
  };
  return std::ranges::all_of(constraints_, [&](const expression& e) { return is_true(e.value(value_of)); });
}

point space::at(std::uint64_t number) const {
  point p(parameters_.size());
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    p[i] = static_cast<std::uint32_t>(number % parameters_[i].values.size());
    number /= parameters_[i].values.size();
  }
  return p;
}

std::uint64_t space::number_of(const point& p) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < p.size(); ++i) number = number * parameters_[i].values.size() + p[i];
  return number;
}

std::optional<std::vector<point>> space::all(std::uint64_t most) const {
  if (size() > most) return std::nullopt;
  std::vector<point> points;
  for (std::uint64_t i = 0; i < size(); ++i)
    if (point p = at(i); allows(p)) points.push_back(std::move(p));
  return points;
}

std::optional<point> space::random(std::mt19937_64& random) const {
  constexpr int k_tries = 10'000;
  for (int i = 0; i < k_tries; ++i) {
    point p;
    for (const parameter& one : parameters_)
      p.push_back(
          static_cast<std::uint32_t>(std::uniform_int_distribution<std::size_t>(0, one.values.size() - 1)(random)));
    if (allows(p)) return p;
  }
  return std::nullopt;
}

std::string space::describe(const point& p) const {
  std::string text;
  for (std::size_t i = 0; i < p.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", parameters_[i].name, parameters_[i].values[p[i]]);
  return text;
}

double space::distance_squared(const point& a, const point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const parameter& p = parameters_[i];
    if (p.values.size() < 2 || a[i] == b[i]) continue;
    const double d = p.numbers.empty() ? 1
                                       : (static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                                             static_cast<double>(p.values.size() - 1);
    sum += d * d;
  }
  return sum;
}

}  // namespace shoal::tune
