// SPDX-License-Identifier: Apache-2.0
// An exception as it travels to another node: code, node, and its type and message as text, of which long ones lose their
// middle.
// Who may call: any thread; never switches tasks. Shown by tests/cluster/call_test.cpp, spmd_test.cpp and
// global_promise_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shoal/remote_error.hpp"

namespace shoal::remote {

struct failure {
  int code = 0;            // errc
  std::uint32_t node = 0;  // where it was thrown
  std::string type;        // of the exception
  std::string message;

  remote_error as_error() const { return remote_error(static_cast<errc>(code), node, type, message); }
};

/// Of the exception that is being handled; one from another node stays as it is.
failure current_failure(std::uint32_t here);

/// Words: `name`, which is the caller's; code and node; the lengths of the two texts; the texts.
std::vector<std::uint64_t> pack_failure(std::uint64_t name, const failure& f);
/// From all words of a message. Ends the program if they have another form.
failure read_failure(std::span<const std::uint64_t> words);

}  // namespace shoal::remote
