// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/imports.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace shoal::mpi_threads {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Whether a file belongs to an MPI library itself; such files use every function.
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
    // The linker adds the load address to most pointers in this table; the kernel's own page keeps offsets.
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
  // The newer hash table contains only defined symbols; undefined symbols come before them.
  t.count = gnu_hash != nullptr ? gnu_hash[1] : hash != nullptr ? hash[1] : 0;
  if (t.strings == nullptr || t.symbols == nullptr) t.count = 0;
  return t;
}

using user = std::function<bool(std::string_view)>;

int visit(dl_phdr_info* file, std::size_t, void* with) {
  if (file->dlpi_name != nullptr && of_mpi(file->dlpi_name)) return 0;
  const tables t = tables_of(*file);
  for (std::size_t i = 0; i < t.count; ++i) {
    if (t.symbols[i].st_shndx != SHN_UNDEF) continue;
    if ((*static_cast<const user*>(with))(t.strings + t.symbols[i].st_name)) return 1;
  }
  return 0;
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
  user all = use;
  dl_iterate_phdr(visit, &all);
}

std::string first_used(std::span<const char* const> names) {
  std::string found;
  each_import([&](std::string_view symbol) {
    const std::string function = mpi_function(symbol);
    if (function.empty()) return false;
    const bool wanted = function.starts_with("mpix_") ||
                        std::ranges::any_of(names, [&](const char* name) { return lower(name) == function; });
    if (wanted) found = symbol;
    return wanted;
  });
  return found;
}

}  // namespace shoal::mpi_threads
