// SPDX-License-Identifier: Apache-2.0
#include "runtime/body_name.hpp"

#include <algorithm>
#include <vector>

namespace shoal::runtime {
namespace {

constexpr std::string_view k_lambda = "{lambda(";
constexpr std::string_view k_anonymous = "(anonymous namespace)";

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

// The template argument that `at` lies in.
std::string_view argument_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  for (int depth = 0; begin > 0; --begin) {
    const char c = text[begin - 1];
    if (closes(c)) ++depth;
    if (depth == 0 && (opens(c) || c == ',')) break;
    if (opens(c)) --depth;
  }
  std::size_t end = at;
  for (int depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (opens(c)) ++depth;
    if (depth == 0 && (closes(c) || c == ',')) break;
    if (closes(c)) --depth;
  }
  std::string_view found = text.substr(begin, end - begin);
  found.remove_prefix(std::min(found.find_first_not_of(' '), found.size()));
  return found;
}

// At "::" outside of brackets.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (opens(name[i])) ++depth;
    if (closes(name[i])) --depth;
    if (depth != 0 || name.substr(i, 2) != "::") continue;
    parts.push_back(name.substr(begin, i - begin));
    begin = i + 2;
  }
  parts.push_back(name.substr(begin));
  return parts;
}

// "{lambda(int)#2}" is "lambda 2".
std::string lambda_text(std::string_view part) {
  const std::size_t number = part.rfind('#');
  return "lambda " + std::string(part.substr(number + 1, part.rfind('}') - number - 1));
}

bool is_lambda(std::string_view part) { return part.starts_with(k_lambda); }

// Without the clutter: "a::f(int), lambda 1".
std::string place_text(const std::vector<std::string_view>& parts, std::size_t count) {
  std::string text;
  bool in_lambda = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_lambda(parts[i])) {
      text += ", " + lambda_text(parts[i]);
      in_lambda = true;
    } else if (!in_lambda) {
      if (!text.empty()) text += "::";
      text += parts[i];
    }  // else the operator() of the lambda
  }
  return text;
}

// Of a function: without the type of its result, which stands in front of it where templates are: "void ",
// "decltype(auto) ", "decltype ((f)((a)->b)) ".
std::string_view without_result(std::string_view symbol) {
  constexpr std::string_view k_operator = "operator";
  constexpr std::string_view k_decltype = "decltype";
  std::string open;  // brackets
  std::size_t begin = 0;
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    const std::string_view rest = symbol.substr(i);
    if (open.empty() && rest.starts_with(k_operator)) {  // signs, or a type, up to the arguments
      const std::string_view arguments = rest.substr(k_operator.size());
      if (arguments.starts_with("()")) {
        i += k_operator.size() + 1;
        continue;
      }
      if (arguments.find_first_of(" <>=+-*/%^&|~!,[\"") == 0) break;
    }
    if (open.empty() && (rest.starts_with(k_decltype) && (i == begin))) {
      const std::string_view behind = rest.substr(k_decltype.size());
      if (behind.starts_with('(') || behind.starts_with(" (")) {
        i += k_decltype.size() + behind.find('(');
        open += '(';
        continue;
      }
    }
    if (open.empty() && rest.front() == '(') {
      if (!rest.starts_with(k_anonymous)) break;  // its arguments
      i += k_anonymous.size() - 1;
    } else if (open.empty() && rest.front() == ' ') {
      begin = i + 1;
    } else if (opens(rest.front())) {
      open += rest.front();
    } else if (closes(rest.front()) && !open.empty() && (rest.front() == '>') == (open.back() == '<')) {
      open.pop_back();  // else it is "->", or a comparison
    }
  }
  return symbol.substr(begin);
}

// The first template argument that is a type of the program's, where no lambda is.
std::string_view own_type(std::string_view symbol) {
  for (std::size_t at = symbol.find('<'); at != std::string_view::npos; at = symbol.find('<', at + 1)) {
    const std::string_view argument = argument_at(symbol, at + 1);
    if (argument.find("::") != std::string_view::npos && !argument.starts_with("shoal::") &&
        !argument.starts_with("std::"))
      return argument;
  }
  return {};
}

}  // namespace

body_name name_body(std::string_view symbol) {
  const std::size_t lambda = symbol.find(k_lambda);
  if (lambda == std::string_view::npos) {
    const std::string_view type = own_type(symbol);
    return {std::string(type.empty() ? symbol : type), {}};
  }
  const std::string_view body = argument_at(symbol, lambda);
  const auto parts = parts_of(body);
  std::size_t last = parts.size();
  while (last > 0 && !is_lambda(parts[last - 1])) --last;
  if (last == 0) return {std::string(body), {}};
  return {lambda_text(parts[last - 1]), place_text(parts, last - 1)};
}

std::string function_name(std::string_view whole) {
  const std::string_view symbol = without_result(whole);
  const auto parts = parts_of(symbol);
  for (std::size_t i = parts.size(); i-- > 0;)
    if (is_lambda(parts[i])) return lambda_text(parts[i]) + " in " + place_text(parts, i);
  constexpr std::string_view k_call = "operator()";
  constexpr std::size_t k_longest_arguments = 24;
  std::string text;
  for (std::size_t i = 0; i < symbol.size();) {
    const std::string_view rest = symbol.substr(i);
    if (const std::string_view kept = rest.starts_with(k_anonymous) ? k_anonymous : k_call; rest.starts_with(kept)) {
      text += kept;
      i += kept.size();
    } else if (rest.front() == '(') {
      break;
    } else if (rest.front() == '<' && !text.ends_with("operator")) {
      std::size_t end = i + 1;
      for (int depth = 1; end < symbol.size() && depth > 0; ++end) {
        if (opens(symbol[end])) ++depth;
        if (closes(symbol[end])) --depth;
      }
      const std::string_view all = symbol.substr(i, end - i);
      text += all.size() <= k_longest_arguments ? all : "<...>";
      i = end;
    } else {
      text += rest.front();
      ++i;
    }
  }
  return text.empty() ? std::string(whole) : text;
}

}  // namespace shoal::runtime
