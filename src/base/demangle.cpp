// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace shoal::base {

std::string demangled(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : mangled;
  std::free(text);
  return result;
}

}  // namespace shoal::base
