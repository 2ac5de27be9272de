// SPDX-License-Identifier: Apache-2.0
#include "machine/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <shoal/error.hpp>

#include "machine/process.hpp"

namespace shoal::machine {

void* load_library(const std::string& path, bool for_all, const char* before_own) {
  const bool own_first = before_own != nullptr && ::dlsym(RTLD_DEFAULT, before_own) != nullptr;
  void* const handle = ::dlopen(
      path.c_str(), RTLD_NOW | RTLD_NODELETE | (for_all ? RTLD_GLOBAL : RTLD_LOCAL) | (own_first ? RTLD_DEEPBIND : 0));
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    throw error(errc::unsupported, reason == nullptr ? "the loader gives no reason" : reason);
  }
  return handle;
}

void keep_loaded(const std::string& path) noexcept {
  // Null for the program itself, which stays loaded anyway.
  static_cast<void>(::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

void* find_symbol(void* library, const char* name) noexcept { return ::dlsym(library, name); }

std::vector<std::string> plugin_folders(const std::string& first) {
  const std::filesystem::path program = std::filesystem::path(own_executable()).parent_path();
  std::vector<std::string> folders;
  for (const std::string& folder : {first, (program / "lib").string(),
                                    (program / ".." / SHOAL_LIBRARY_FOLDER / "shoal").lexically_normal().string(),
                                    std::string(SHOAL_BUILT_PLUGINS), std::string(SHOAL_INSTALLED_PLUGINS)})
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  return folders;
}

}  // namespace shoal::machine
