// SPDX-License-Identifier: Apache-2.0
// The exception for bad input and failures of the environment: a code, and a message that says what is wrong and what
// to do. Misuse of the interface is an assertion instead (detail/assert.hpp).
//   throw shoal::error(shoal::errc::not_found, "no file x.graph; give the path of a graph");
// Who may call: anyone, at set-up and in tools; hot paths return small enums and never throw. Never switches tasks.
// Tests: tests/unit/base/error_test.cpp.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shoal {

enum class errc {
  invalid_argument = 1,  // a value from the program, the command line or a setting is not valid
  bad_input,             // a file or a message has wrong contents
  out_of_memory,         // the request exceeds the memory of the machine or of the control group
  system,                // the operating system refused
  not_found,             // a file, a name or a vertex does not exist
  mismatch,              // two nodes or two files are incompatible
  peer_lost,             // another node of the job has ended
  unsupported,           // this machine, kernel or build cannot do it
  exhausted,             // a limit that a setting defines has been reached
  timeout,               // something did not happen in the time allowed
  remote,                // an exception of another node, which the reply brought
  stopped,               // the called object is being shut down
  deadlock,              // tasks wait for each other in a cycle
  abandoned,             // a promise was destroyed before it was set
  internal,              // a defect of Shoal; please report it
};

/// The name of a code, as in "bad_input".
std::string_view to_string(errc code) noexcept;

class error : public std::runtime_error {
public:
  error(errc code, const std::string& message);
  errc code() const noexcept { return code_; }

private:
  errc code_;
};

}  // namespace shoal
