// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/imports.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace shoal::mpi_threads {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// A part of an MPI library itself: it uses everything.
bool of_mpi(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view start : {"libmpi", "libmca", "mca_", "libopen-", "libompi", "libpmpi", "libshoal_mpi"})
    if (name.starts_with(start)) return true;
  return false;
}

struct tables {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::size_t count = 0;
};

tables tables_of(const dl_phdr_info& file) {
  tables t;
  const ElfW(Word)* hash = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  for (unsigned i = 0; i < file.dlpi_phnum; ++i) {
    if (file.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // The linker adds the file's place to most pointers there, the kernel's own page keeps offsets.
    auto at = [&](ElfW(Addr) value) { return value >= file.dlpi_addr ? value : value + file.dlpi_addr; };
    for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(file.dlpi_addr + file.dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) place = at(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) t.strings = reinterpret_cast<const char*>(place);
      if (entry->d_tag == DT_SYMTAB) t.symbols = reinterpret_cast<const ElfW(Sym)*>(place);
      if (entry->d_tag == DT_HASH) hash = reinterpret_cast<const ElfW(Word)*>(place);
      if (entry->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const std::uint32_t*>(place);
    }
  }
  // Symbols that others define come before all that the newer table finds.
  t.count = gnu_hash != nullptr ? gnu_hash[1] : hash != nullptr ? hash[1] : 0;
  if (t.strings == nullptr || t.symbols == nullptr) t.count = 0;
  return t;
}

using each_file = std::function<bool(imported)>;

int visit(dl_phdr_info* file, std::size_t, void* with) {
  if (file->dlpi_name != nullptr && of_mpi(file->dlpi_name)) return 0;
  const tables t = tables_of(*file);
  imported symbols;
  for (std::size_t i = 0; i < t.count; ++i) {
    if (t.symbols[i].st_shndx == SHN_UNDEF) symbols.emplace_back(t.strings + t.symbols[i].st_name);
  }
  return (*static_cast<const each_file*>(with))(std::move(symbols)) ? 1 : 0;
}

// Which calls are inline functions of the bindings' classes, virtual ones, and so in every file that includes them.
constexpr const char* k_on_windows[] = {"win_complete", "win_lock", "win_unlock"};
constexpr const char* k_joining[] = {"comm_accept", "comm_connect", "comm_spawn", "comm_spawn_multiple"};
constexpr const char* k_window_makers[] = {"win_create", "win_allocate", "win_allocate_shared", "win_create_dynamic"};

bool one_of(std::span<const char* const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Constructors that are not inline: those of the classes themselves.
bool with_bindings(const imported& file) {
  return std::ranges::any_of(file, [](std::string_view symbol) { return symbol.starts_with("_ZN3MPI"); });
}

bool makes_windows(const imported& file) {
  return std::ranges::any_of(file, [](std::string_view symbol) {
    std::string function = mpi_function(symbol);
    if (function.ends_with("_c")) function.resize(function.size() - 2);
    return one_of(k_window_makers, function);
  });
}

}  // namespace

std::string mpi_function(std::string_view symbol) {
  std::string name = lower(symbol);
  while (name.ends_with('_')) name.pop_back();
  if (name.ends_with("_f08")) name.resize(name.size() - 4);
  if (name.starts_with("mpix_")) return name;
  if (name.starts_with("pmpi_")) name.erase(0, 1);
  return name.starts_with("mpi_") ? name.substr(4) : "";
}

void each_import(const std::function<bool(std::string_view)>& use) {
  each_file all = [&use](const imported& file) { return std::ranges::any_of(file, use); };
  dl_iterate_phdr(visit, &all);
}

std::string first_used_of(std::span<const imported> files, std::span<const char* const> names) {
  const bool windows = std::ranges::any_of(files, makes_windows);
  for (const imported& file : files) {
    const bool bindings = with_bindings(file);
    for (const std::string_view symbol : file) {
      const std::string function = mpi_function(symbol);
      if (function.empty()) continue;
      if (bindings && (one_of(k_joining, function) || (!windows && one_of(k_on_windows, function)))) continue;
      if (function.starts_with("mpix_") ||
          std::ranges::any_of(names, [&](const char* name) { return lower(name) == function; }))
        return std::string(symbol);
    }
  }
  return "";
}

std::string first_used(std::span<const char* const> names) {
  std::vector<imported> files;
  each_file all = [&files](imported file) {
    files.push_back(std::move(file));
    return false;
  };
  dl_iterate_phdr(visit, &all);
  return first_used_of(files, names);
}

void joins_under_lock(const char* name) {
  static std::atomic_flag said;  // partner: itself, who comes first
  if (said.test_and_set(std::memory_order_relaxed)) return;
  fmt::print(
      stderr,
      "shoal mpi-threads: MPI_{} is called with the lock held, so other threads of this process wait for it, and "
      "the processes that it joins may choose another level; if that is not what you want: --level multiple\n",
      name);
}

}  // namespace shoal::mpi_threads
