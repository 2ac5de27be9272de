// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shoal/error.hpp"

namespace shoal::machine {

void set_variable(const char* name, const std::string& value) {
  if (::setenv(name, value.c_str(), 1) != 0)
    throw error(errc::system,
                fmt::format("cannot set {} in the environment: {}; is there memory left?", name, std::strerror(errno)));
}

}  // namespace shoal::machine
