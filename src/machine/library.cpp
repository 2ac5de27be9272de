// SPDX-License-Identifier: Apache-2.0
#include "machine/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <shoal/error.hpp>

#include "machine/process.hpp"

namespace shoal::machine {
namespace {

// A library that is bound to its own names first has the C library's variable `environ`, which nobody sets where the
// program has one of this name, too (tools/mpi-host/start.c). It gets a list of its own: the program's may move.
void set_environment_of_the_c_library() {
  void* const c_library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  auto* const variable = c_library == nullptr ? nullptr : static_cast<char***>(::dlsym(c_library, "environ"));
  if (variable == nullptr || variable == &environ || environ == nullptr) return;
  static auto* const copy = [] {
    auto* const list = new std::vector<char*>;  // in use until the process is gone
    for (char** at = environ; *at != nullptr; ++at) list->push_back(*at);
    list->push_back(nullptr);
    return list;
  }();
  *variable = copy->data();
}

}  // namespace

void* load_library(const std::string& path, bool for_all, const char* before_own) {
  const bool own_first = before_own != nullptr && ::dlsym(RTLD_DEFAULT, before_own) != nullptr;
  if (own_first) set_environment_of_the_c_library();
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
