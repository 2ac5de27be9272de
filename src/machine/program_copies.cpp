// SPDX-License-Identifier: Apache-2.0
#include "machine/program_copies.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "machine/descriptor.hpp"

namespace shoal::machine {
namespace {

// A folder for libraries as the loader reads it: $ORIGIN or ${ORIGIN} stands for the program's. True: it did.
bool replace_origin(std::string& folder, const std::string& program) {
  for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
    const auto at = folder.find(origin);
    if (at == std::string::npos) continue;
    folder.replace(at, origin.size(), std::filesystem::absolute(program).parent_path().string());
    return true;
  }
  return false;
}

// Where the loader finds a library that the program needs; empty: nowhere.
std::string find_library(const copied_image& program, const std::string& name) {
  for (std::string folder : program.folders()) {
    replace_origin(folder, program.path());
    if (std::string path = folder + "/" + name; ::access(path.c_str(), R_OK) == 0) return path;
  }
  void* const loaded = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (loaded == nullptr) return {};
  link_map* map = nullptr;
  std::string path;
  if (::dlinfo(loaded, RTLD_DI_LINKMAP, &map) == 0) path = map->l_name;
  ::dlclose(loaded);
  return path;
}

// A name of that length that no other library of this process has.
std::string new_name(std::size_t length) {
  static std::atomic<std::uint64_t> names{0};
  std::string name = fmt::format("{}", names.fetch_add(1, std::memory_order_relaxed));
  return std::string(length > name.size() ? length - name.size() : 0, '-') + name;
}

}  // namespace

program_copy::~program_copy() {
  if (handle_ != nullptr) ::dlclose(handle_);
  for (void* const l : libraries_) ::dlclose(l);
}

void* program_copy::find(const char* name) const noexcept { return ::dlsym(handle_, name); }

program_copies::program_copies(const std::string& path, const std::vector<std::string>& private_libraries,
                               const std::string& shown)
    : program_(path, shown) {
  for (const std::string& name : program_.needed()) {
    if (std::ranges::none_of(private_libraries, [&](const std::string& begin) { return name.starts_with(begin); }))
      continue;
    // A library that is not found is the loader's to complain about.
    if (const std::string found = find_library(program_, name); !found.empty())
      libraries_.emplace_back(name, found, shown.empty() ? shown : found);
  }
}

std::vector<std::string> program_copies::origin_folders() const {
  std::vector<std::string> all;
  for (std::string folder : program_.folders())
    if (replace_origin(folder, program_.path())) all.push_back(folder);
  return all;
}

// The loader takes for a needed library what has its name, so copies of both get a new one.
program_copy program_copies::load() {
  program_copy made;
  std::vector<copied_image::renaming> names;
  std::vector<std::pair<const copied_image*, copied_image::loaded>> all;
  std::vector<descriptor> files;
  const auto add = [&](const copied_image& image, std::span<const copied_image::renaming> of) {
    all.emplace_back(&image, image.load(of));
    files.emplace_back(all.back().second.file);
    return all.back().second.handle;
  };
  for (const library& l : libraries_) {
    names.push_back({l.name, new_name(l.name.size())});
    made.libraries_.push_back(add(l.image, std::span(&names.back(), 1)));
  }
  made.handle_ = add(program_, names);
  for (const auto& [image, copy] : all) image->share(copy);
  return made;
}

}  // namespace shoal::machine
