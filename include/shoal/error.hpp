// SPDX-License-Identifier: Apache-2.0
// What the environment and bad input give: an exception with a code and one sentence that says what is wrong and
// what to do about it. Misuse of the interface is not reported this way; it is an assertion (detail/assert.hpp).
// Who may call: anyone, at set-up and in tools; hot paths return small enums and never throw. Never switches tasks.
// Shown by tests/unit/base/error_test.cpp.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shoal {

enum class errc {
  invalid_argument = 1,  // a value given by the program, the command line or a setting is not acceptable
  bad_input,             // a file or a message does not hold what it should
  out_of_memory,         // more was asked for than the machine or the control group has
  system,                // the operating system refused
  not_found,             // a file, a name or a vertex does not exist
  mismatch,              // two nodes or two files do not fit together
  peer_lost,             // another node of the job has ended
  unsupported,           // this machine, kernel or build cannot do it
  exhausted,             // a bound that a setting chooses has been reached
  timeout,               // something did not happen in the time allowed
  remote,                // an exception thrown on another node, brought here with the reply
  stopped,               // what was asked has begun to end
  deadlock,              // tasks wait for each other in a circle
  abandoned,             // a promise was destroyed before it was set
  internal,              // Shoal contradicts itself: a defect worth a report
};

/// The name of a code, as in "bad_input".
std::string_view to_string(errc code) noexcept;

class error : public std::runtime_error {
public:
  error(errc code, const std::string& sentence);
  errc code() const noexcept { return code_; }

private:
  errc code_;
};

}  // namespace shoal
