// SPDX-License-Identifier: Apache-2.0
#include "machine/library.hpp"

#include <dlfcn.h>

#include <shoal/error.hpp>

namespace shoal::machine {

void* load_library(const std::string& path, bool for_all) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE | (for_all ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    throw error(errc::unsupported, reason == nullptr ? "the loader gives no reason" : reason);
  }
  return handle;
}

void* find_symbol(void* library, const char* name) noexcept { return ::dlsym(library, name); }

}  // namespace shoal::machine
