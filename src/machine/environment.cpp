// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

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

std::vector<std::string> variables(std::string_view prefix) {
  std::vector<std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with(prefix)) found.emplace_back(*entry);
  return found;
}

}  // namespace shoal::machine
