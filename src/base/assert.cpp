// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/assert.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace shoal::detail {

// The stack may be small and memory may be exhausted: uses a fixed buffer and one write, and does not allocate.
void assertion_failed(const char* message, const char* file, int line, const char* function) noexcept {
  char text[512];
  int length =
      std::snprintf(text, sizeof text, "shoal: assertion failed: %s (%s:%d, %s)\n", message, file, line, function);
  if (length >= static_cast<int>(sizeof text)) {
    length = static_cast<int>(sizeof text) - 1;
    text[length - 1] = '\n';
  }
  if (length > 0) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  }
  std::abort();
}

}  // namespace shoal::detail
