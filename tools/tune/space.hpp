// SPDX-License-Identifier: Apache-2.0
// What is tuned: parameters with the values each may have, and conditions that all must meet. Every range is a list of
// values, so a point is a list of places in these lists.
// Who may call: one thread at a time. Errors: shoal::error names the parameter. Test: tests/unit/tune/space_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tune/expression.hpp"

namespace shoal::tune {

enum class parameter_kind : std::uint8_t {
  argument,     // {name} in the command
  environment,  // a variable of that name
  setting,      // a setting of Shoal: the variable SHOAL_NAME
};

struct parameter {
  std::string name;
  parameter_kind kind = parameter_kind::argument;
  std::vector<std::string> values;
  std::vector<double> numbers;  // as many, if all values are numbers: they have an order; else empty

  /// Each number is the one before times the same factor, above 0: what a logarithmic axis suits. At least three.
  bool is_geometric() const;
};

/// "grain=1:65536:x2" (or :log2), "tile=16,32,64", "ratio=0.1:0.9:0.1" (or :+0.1), "depth=2:8", "size=10:1000:log10".
/// Throws errc::invalid_argument.
parameter parse_parameter(const std::string& text, parameter_kind kind = parameter_kind::argument);

using point = std::vector<std::uint32_t>;

class space {
public:
  /// Throws errc::invalid_argument for none, two of one name, or conditions that name what there is not.
  space(std::vector<parameter> parameters, std::vector<expression> constraints);

  const std::vector<parameter>& parameters() const noexcept { return parameters_; }
  /// Without regard to constraints; at most 2^63.
  std::uint64_t size() const noexcept;
  bool allows(const point& p) const;
  /// By number, 0 to size() - 1.
  point at(std::uint64_t number) const;
  std::uint64_t number_of(const point& p) const;
  /// All points that are allowed, if the space has at most `most`.
  std::optional<std::vector<point>> all(std::uint64_t most) const;
  /// Empty: no allowed one was found in many tries.
  std::optional<point> random(std::mt19937_64& random) const;
  /// "grain 64, tile 16"
  std::string describe(const point& p) const;
  /// Of two points: 0 equal; 1 as far as one parameter goes. Of parameters without an order: equal or not.
  double distance_squared(const point& a, const point& b) const;

private:
  std::vector<parameter> parameters_;
  std::vector<expression> constraints_;
};

}  // namespace shoal::tune
