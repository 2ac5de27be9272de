// SPDX-License-Identifier: Apache-2.0
#include "shoal/error.hpp"

namespace shoal {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::bad_input: return "bad_input";
    case errc::out_of_memory: return "out_of_memory";
    case errc::system: return "system";
    case errc::not_found: return "not_found";
    case errc::mismatch: return "mismatch";
    case errc::peer_lost: return "peer_lost";
    case errc::unsupported: return "unsupported";
    case errc::exhausted: return "exhausted";
    case errc::timeout: return "timeout";
    case errc::remote: return "remote";
    case errc::stopped: return "stopped";
    case errc::deadlock: return "deadlock";
    case errc::abandoned: return "abandoned";
    case errc::internal: return "internal";
  }
  return "unknown";
}

error::error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}

}  // namespace shoal
