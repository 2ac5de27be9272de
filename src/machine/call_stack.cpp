// SPDX-License-Identifier: Apache-2.0
#include "machine/call_stack.hpp"

#include <execinfo.h>

#include <array>

namespace shoal::machine {

std::vector<const void*> call_stack() {
  std::array<void*, 65> found{};
  const int count = ::backtrace(found.data(), static_cast<int>(found.size()));
  return count > 1 ? std::vector<const void*>(found.begin() + 1, found.begin() + count) : std::vector<const void*>();
}

}  // namespace shoal::machine
