// SPDX-License-Identifier: Apache-2.0
// What can be said of an exception of any type: for messages about exceptions that nobody may know the type of.
// Who may call: any thread, inside a catch block; it allocates. Never switches tasks.
// Test: tests/unit/base/thrown_test.cpp.
#pragma once

#include <string>

namespace shoal::base {

struct thrown {
  std::string type;     // as the program writes it: "std::out_of_range", "int"
  std::string message;  // what() of a std::exception; the value of a text or an integer; else empty
};

/// Describes the exception that is being handled.
thrown describe_thrown();

/// One sentence: the message of a std::exception, else "an exception that is no std::exception: int 42".
std::string sentence_of_thrown();

}  // namespace shoal::base
