// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/assert.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "base/shorten.hpp"

namespace shoal::detail {

// The stack may be small and memory may be exhausted: uses a fixed buffer and one write, and does not allocate.
void assertion_failed(const char* message, const char* file, int line, const char* function) noexcept {
  // A long message is shortened, so that the place is always there.
  char shorter[512];
  const std::size_t said = base::copy_shortened(message, shorter, sizeof shorter - 1);
  shorter[said] = '\0';
  char text[1024];
  int length =
      std::snprintf(text, sizeof text, "shoal: assertion failed: %s (%s:%d, %s)\n", shorter, file, line, function);
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
