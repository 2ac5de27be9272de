// SPDX-License-Identifier: Apache-2.0
#include "tune/expression.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

struct operation {
  std::string_view sign;
  int precedence;
  double (*apply)(double, double);
};

// Longer signs before those that begin like them.
constexpr std::array<operation, 13> k_operations = {{
    {"||", 1, [](double a, double b) { return is_true(a) || is_true(b) ? 1.0 : 0.0; }},
    {"&&", 2, [](double a, double b) { return is_true(a) && is_true(b) ? 1.0 : 0.0; }},
    {"==", 3, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"!=", 3, [](double a, double b) { return a < b || a > b ? 1.0 : 0.0; }},
    {"<=", 4, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {">=", 4, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"<", 4, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {">", 4, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"+", 5, [](double a, double b) { return a + b; }},
    {"-", 5, [](double a, double b) { return a - b; }},
    {"*", 6, [](double a, double b) { return a * b; }},
    {"/", 6, [](double a, double b) { return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / b; }},
    {"%", 6, [](double a, double b) { return std::fmod(a, b); }},
}};
constexpr int k_lowest = 1;
constexpr int k_deepest = 100;  // of parentheses

}  // namespace

bool is_true(double value) noexcept { return value < 0 || value > 0; }

class expression_parser {
public:
  explicit expression_parser(expression& into) : into_(into), rest_(into.text_) {}

  void run() {
    into_.root_ = operations(k_lowest);
    blanks();
    if (!rest_.empty()) refuse("there is more than a condition");
  }

private:
  using node = expression::node;
  using lookup = expression::lookup;

  [[noreturn]] void refuse(std::string_view why) const {
    throw error(errc::invalid_argument, fmt::format("the constraint '{}' cannot be read at place {}: {}", into_.text_,
                                                    into_.text_.size() - rest_.size() + 1, why));
  }
  void blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  bool skip(std::string_view sign) {
    blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  const operation* next_operation(int least) {
    blanks();
    for (const operation& o : k_operations)
      if (rest_.starts_with(o.sign)) return o.precedence >= least ? &o : nullptr;
    return nullptr;
  }

  node operations(int least) {
    node left = operand();
    while (const operation* const o = next_operation(least)) {
      rest_.remove_prefix(o->sign.size());
      node right = operations(o->precedence + 1);
      left = [a = std::move(left), b = std::move(right), apply = o->apply](const lookup& l) {
        return apply(a(l), b(l));
      };
    }
    return left;
  }

  node operand() {
    if (++depth_ > k_deepest) refuse("it is nested too deeply");
    node n = unguarded_operand();
    --depth_;
    return n;
  }

  node unguarded_operand() {
    if (skip("(")) {
      node inner = operations(k_lowest);
      if (!skip(")")) refuse("a closing parenthesis is missing");
      return inner;
    }
    if (skip("-")) return [a = operand()](const lookup& l) { return -a(l); };
    if (skip("!")) return [a = operand()](const lookup& l) { return a(l) == 0 ? 1.0 : 0.0; };
    if (rest_.empty()) refuse("a number or a name is missing");
    const auto first = static_cast<unsigned char>(rest_.front());
    if (std::isdigit(first) != 0 || first == '.') return number();
    if (std::isalpha(first) != 0 || first == '_') return name();
    refuse("a number or a name is missing");
  }

  node number() {
    const std::string text(rest_);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) refuse("this is no number");
    rest_.remove_prefix(static_cast<std::size_t>(end - text.c_str()));
    return [value](const lookup&) { return value; };
  }

  node name() {
    std::size_t length = 1;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_'))
      ++length;
    const std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    into_.names_.push_back(word);
    return [word](const lookup& l) { return l(word); };
  }

  expression& into_;
  std::string_view rest_;
  int depth_ = 0;
};

expression::expression(const std::string& text) : text_(text) { expression_parser(*this).run(); }

}  // namespace shoal::tune
