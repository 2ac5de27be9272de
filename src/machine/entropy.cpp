// SPDX-License-Identifier: Apache-2.0
#include "machine/entropy.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "shoal/error.hpp"

namespace shoal::machine {

void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw error(errc::system, fmt::format("the system gives no random numbers ({}); Linux 3.17 or later is needed",
                                            std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace shoal::machine
