// SPDX-License-Identifier: Apache-2.0
// What a task's body is called in reports, and where it was spawned: the function that encloses the body's type. Both
// come from the name of the code that runs the body, which has the body's type among its template arguments.
// Who may call: any thread. Never switches tasks. Test: tests/unit/runtime/body_name_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace shoal::runtime {

struct body_name {
  std::string body;        // "lambda 2", or the name of a type or function
  std::string spawned_in;  // "solve(int), lambda 1"; empty if the name does not tell
};

/// `symbol`: as the compiler writes it, demangled.
body_name name_body(std::string_view symbol);

/// A function without its result, arguments and long template arguments: "shoal::graph::build<...>"; of a lambda
/// "lambda 2 in solve(int)".
std::string function_name(std::string_view symbol);

}  // namespace shoal::runtime
