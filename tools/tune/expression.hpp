// SPDX-License-Identifier: Apache-2.0
// A condition on parameters, as in "grain * tile <= 65536 && tile % 16 == 0": numbers, names, + - * / %, comparisons,
// ! && ||, parentheses, with the precedence of C. Values are real numbers; false is 0. Nothing is true of a division by
// 0.
// Who may call: one thread at a time. Errors: shoal::error with the place in the text. Test:
// tests/unit/tune/expression_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tune {

bool is_true(double value) noexcept;

class expression {
public:
  /// Throws errc::invalid_argument for what is no condition.
  explicit expression(const std::string& text);

  const std::string& text() const noexcept { return text_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// `value_of(name)` is called for each name that counts.
  double value(const std::function<double(std::string_view)>& value_of) const { return root_(value_of); }

private:
  friend class expression_parser;
  using lookup = std::function<double(std::string_view)>;
  using node = std::function<double(const lookup&)>;

  std::string text_;
  std::vector<std::string> names_;
  node root_;
};

}  // namespace shoal::tune
