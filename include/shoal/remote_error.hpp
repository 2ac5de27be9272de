// SPDX-License-Identifier: Apache-2.0
// An exception of another node, rethrown by the wait for the result. The original object cannot be sent (its type may
// hold pointers): a remote_error has the name of its type, its message and the node that threw it. Of a message over
// 2000 bytes the middle is left out, marked by [...].
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
  /// what() of the original; of one that is no std::exception the text or the integer, else empty.
  const std::string& message() const noexcept { return message_; }

private:
  std::uint32_t node_;
  std::string type_;
  std::string message_;
};

}  // namespace shoal
