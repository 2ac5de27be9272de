// SPDX-License-Identifier: Apache-2.0
#include "machine/symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

#include "machine/memory_info.hpp"
#include "machine/process.hpp"

namespace shoal::machine {
namespace {

struct place {
  std::string path;
  std::uint64_t offset = 0;  // in the file's own numbering
};

place find(const void* code) {
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(code, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return {};
  const auto& image = *static_cast<const link_map*>(found);
  const bool is_program = image.l_name == nullptr || *image.l_name == '\0';
  return {is_program ? own_executable() : image.l_name, reinterpret_cast<std::uintptr_t>(code) - image.l_addr};
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

template <class T>
std::vector<T> read(std::ifstream& in, std::uint64_t at, std::uint64_t bytes) {
  std::vector<T> items(bytes / sizeof(T));
  in.seekg(static_cast<std::streamoff>(at));
  in.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(items.size() * sizeof(T)));
  if (!in) items.clear();
  return items;
}

}  // namespace

// Of the file's table of all symbols, or, if it is stripped, of the exported ones.
const std::vector<symbols::function>& symbols::table_of(const std::string& path) {
  const auto [at, is_new] = tables_.try_emplace(path);
  std::vector<function>& table = at->second;
  if (!is_new) return table;
  std::ifstream in(path, std::ios::binary);
  const auto head = read<ElfW(Ehdr)>(in, 0, sizeof(ElfW(Ehdr)));
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return table;
  const auto sections = read<ElfW(Shdr)>(in, head[0].e_shoff, std::uint64_t{head[0].e_shnum} * sizeof(ElfW(Shdr)));
  for (const unsigned wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const ElfW(Shdr) & one : sections) {
      if (one.sh_type != wanted || one.sh_link >= sections.size()) continue;
      const auto names = read<char>(in, sections[one.sh_link].sh_offset, sections[one.sh_link].sh_size);
      if (names.empty() || names.back() != '\0') continue;
      for (const ElfW(Sym) & s : read<ElfW(Sym)>(in, one.sh_offset, one.sh_size))
        if ((s.st_info & 0xf) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_name < names.size())
          table.push_back({s.st_value, s.st_value + std::max<std::uint64_t>(s.st_size, 1), names.data() + s.st_name});
    }
    if (!table.empty()) break;
  }
  std::ranges::sort(table, {}, &function::begin);
  return table;
}

std::string symbols::name_of(const void* code) {
  const place where = find(code);
  return where.path.empty() ? std::string() : name_at(where.path, where.offset);
}

// A program that is not position-independent begins elsewhere than at 0.
std::string symbols::name_in(const std::string& path, std::uint64_t offset) {
  std::ifstream in(path, std::ios::binary);
  const auto head = read<ElfW(Ehdr)>(in, 0, sizeof(ElfW(Ehdr)));
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto parts = read<ElfW(Phdr)>(in, head[0].e_phoff, std::uint64_t{head[0].e_phnum} * sizeof(ElfW(Phdr)));
  const auto first = std::ranges::find(parts, PT_LOAD, &ElfW(Phdr)::p_type);
  if (first == parts.end()) return {};
  return name_at(path, offset + round_down(first->p_vaddr, page_size()));
}

std::string symbols::name_at(const std::string& path, std::uint64_t offset) {
  const auto& table = table_of(path);
  const auto after = std::ranges::upper_bound(table, offset, {}, &function::begin);
  if (after == table.begin() || offset >= std::prev(after)->end) return {};
  return demangled(std::prev(after)->name.c_str());
}

bool symbols::in_same_file(const void* one, const void* other) noexcept {
  Dl_info a{};
  Dl_info b{};
  return ::dladdr(one, &a) != 0 && ::dladdr(other, &b) != 0 && a.dli_fbase == b.dli_fbase;
}

// Empty: nobody knows.
const std::string& symbols::line_of(const std::string& path, std::uint64_t offset) {
  const auto [at, is_new] = lines_.try_emplace({path, offset});
  std::string& line = at->second;
  if (!is_new || lines_.size() > k_most_lines || path.find('\'') != std::string::npos) return line;
  const std::string command = fmt::format("addr2line -e '{}' {:#x} 2>/dev/null", path, offset);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(::popen(command.c_str(), "re"), ::pclose);
  std::array<char, 4096> text;
  if (from == nullptr || std::fgets(text.data(), text.size(), from.get()) == nullptr) return line;
  std::string_view found(text.data());
  found = found.substr(found.rfind('/') + 1);           // npos + 1 is 0
  found = found.substr(0, found.find_first_of(" \n"));  // "(discriminator 2)"
  if (found.find('?') == std::string_view::npos && !found.ends_with(":0")) line = found;
  return line;
}

std::string symbols::call_at(const void* code) {
  if (code == nullptr) return place_of(code);
  const void* const call = static_cast<const char*>(code) - 1;  // in it, not behind it
  const place where = find(call);
  if (where.path.empty()) return place_of(call);
  const std::string called = name_of(call);
  const std::string& line = line_of(where.path, where.offset);
  if (!line.empty()) return called.empty() ? line : fmt::format("{} ({})", line, called);
  return called.empty() ? place_of(call) : called;
}

std::string symbols::place_of(const void* code) {
  const place where = find(code);
  if (where.path.empty()) return fmt::format("the code at {}", code);
  return fmt::format("{}+{:#x}", where.path.substr(where.path.rfind('/') + 1), where.offset);
}

}  // namespace shoal::machine
