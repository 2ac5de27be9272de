// SPDX-License-Identifier: Apache-2.0
// An exception that was thrown on another node, thrown again where its result is waited for. The object itself cannot
// travel (its type may hold pointers): what comes is its type's name, its message and where it was thrown.
// Who may call: anyone. Shown by tests/cluster/call_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "shoal/error.hpp"

namespace shoal {

class remote_error : public error {
public:
  remote_error(errc code, std::uint32_t node, std::string type, std::string message);

  std::uint32_t node() const noexcept { return node_; }
  const std::string& type() const noexcept { return type_; }
  /// What what() of the original said.
  const std::string& message() const noexcept { return message_; }

private:
  std::uint32_t node_;
  std::string type_;
  std::string message_;
};

}  // namespace shoal
