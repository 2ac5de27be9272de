// SPDX-License-Identifier: Apache-2.0
#include "machine/images.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/thread_id.hpp"

namespace shoal::machine {
namespace {

// No memory of a program lies below (vm.mmap_min_addr) or above (the kernel's half and non-canonical addresses).
constexpr std::uintptr_t k_lowest = std::uintptr_t{1} << 16;
constexpr std::uintptr_t k_highest = std::uintptr_t{1} << 47;
// Larger ones are reservations (a sanitizer's shadow, a symmetric heap), not what malloc returns.
constexpr std::uintptr_t k_largest_heap_bytes = std::uintptr_t{1} << 40;
#ifdef SHOAL_ASAN
constexpr std::uintptr_t k_tables_begin =
    0x7fff8000;  // of the sanitizer itself: what lies in between is not a program's
constexpr std::uintptr_t k_tables_end = 0x10007fff8000;
#else
constexpr std::uintptr_t k_tables_begin = 0;
constexpr std::uintptr_t k_tables_end = 0;
#endif

using program_header = ElfW(Phdr);

std::span<const program_header> headers_of(const dl_phdr_info& info) { return {info.dlpi_phdr, info.dlpi_phnum}; }

struct extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

extent extent_of(const dl_phdr_info& info) {
  extent result{~std::uintptr_t{0}, 0};
  for (const program_header& one : headers_of(info)) {
    if (one.p_type != PT_LOAD) continue;
    result.begin = std::min(result.begin, round_down(info.dlpi_addr + one.p_vaddr, page_size()));
    result.end = std::max(result.end, round_up(info.dlpi_addr + one.p_vaddr + one.p_memsz, page_size()));
  }
  return result.end == 0 ? extent{} : result;
}

bool is_loaded(const dl_phdr_info& info, const program_header& part) {
  const auto parts = headers_of(info);
  return std::any_of(parts.begin(), parts.end(), [&part](const program_header& one) {
    return one.p_type == PT_LOAD && part.p_vaddr >= one.p_vaddr &&
           part.p_vaddr + part.p_filesz <= one.p_vaddr + one.p_filesz;
  });
}

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Empty if the part holds no build identifier.
std::string build_identifier(const dl_phdr_info& info, const program_header& notes) {
  const auto* at = reinterpret_cast<const unsigned char*>(info.dlpi_addr + notes.p_vaddr);
  const std::size_t alignment = notes.p_align == 8 ? 8 : 4;
  std::size_t left = notes.p_filesz;
  while (left >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t name_end = round_up(sizeof note + note.n_namesz, alignment);
    const std::size_t whole = round_up(name_end + note.n_descsz, alignment);
    if (name_end + note.n_descsz > left) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      return hex_of({at + name_end, note.n_descsz});
    }
    if (whole >= left) break;
    at += whole;
    left -= whole;
  }
  return {};
}

// FNV-1a, twice as wide as its 64 bits by a second start value.
std::uint64_t hash_bytes(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* const first = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ first[i]) * 0x100000001b3U;
  return hash;
}

std::string hash_of(const dl_phdr_info& info) {
  std::uint64_t low = 0xcbf29ce484222325U;
  std::uint64_t high = 0x9ae16a3b2f90404fU;
  const auto add = [&low, &high](const void* data, std::size_t bytes) {
    low = hash_bytes(low, data, bytes);
    high = hash_bytes(high, data, bytes);
  };
  bool text_seen = false;
  for (const program_header& one : headers_of(info)) {
    add(&one, sizeof one);
    if (one.p_type != PT_LOAD || (one.p_flags & (PF_X | PF_R)) != (PF_X | PF_R) || text_seen) continue;
    text_seen = true;
    add(reinterpret_cast<const void*>(info.dlpi_addr + one.p_vaddr), std::min<std::size_t>(one.p_filesz, page_size()));
  }
  return fmt::format("{:016x}{:016x}", high, low);
}

image describe_image(const dl_phdr_info& info, const extent& where) {
  image result;
  result.path = info.dlpi_name != nullptr && *info.dlpi_name != '\0' ? info.dlpi_name : own_executable();
  result.base = where.begin;
  result.size_bytes = where.end - where.begin;
  for (const program_header& one : headers_of(info)) {
    if (one.p_type != PT_NOTE || !is_loaded(info, one)) continue;
    const std::string identifier = build_identifier(info, one);
    if (identifier.empty()) continue;
    result.identity = "build:" + identifier;
    return result;
  }
  result.identity = "hash:" + hash_of(info);
  return result;
}

template <class Visit>
void for_each_image(Visit visit) {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) { return (*static_cast<Visit*>(data))(*info) ? 1 : 0; }, &visit);
}

struct area {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_readable = false;
  bool is_private_writable = false;
  bool is_anonymous = false;
  std::string_view name;
};

// "7f1c00000000-7f1c00021000 rw-p 00000000 00:00 0    [heap]"
bool read_area(std::string_view line, area& result) {
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, result.begin, 16);
  if (first.ec != std::errc{} || first.ptr == last) return false;
  const auto second = std::from_chars(first.ptr + 1, last, result.end, 16);
  const std::string_view rest(second.ptr, static_cast<std::size_t>(last - second.ptr));
  if (second.ec != std::errc{} || rest.size() < 5) return false;
  result.is_readable = rest[1] == 'r';
  result.is_private_writable = rest[2] == 'w' && rest[4] == 'p';
  result.is_anonymous = rest.find(" 00:00 0") != std::string_view::npos;
  const auto bracket = rest.find('[');
  result.name = bracket == std::string_view::npos ? std::string_view{} : rest.substr(bracket);
  return true;
}

bool may_be_heap(const area& where) {
  return where.is_private_writable && where.is_anonymous && where.end - where.begin < k_largest_heap_bytes;
}

bool in_image(std::uintptr_t address) {
  bool inside = false;
  for_each_image([&inside, address](const dl_phdr_info& info) {
    const extent where = extent_of(info);
    inside = address - where.begin < where.end - where.begin;
    return inside;
  });
  return inside;
}

bool is_mapped(std::uintptr_t address) {
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(round_down(address, page_size())), 1, &resident) == 0;
}

// Of the main thread's stack the kernel tells the name.
bool is_own_stack(std::uintptr_t address) {
  const auto stack = own_stack();
  return address - reinterpret_cast<std::uintptr_t>(stack.data()) < stack.size();
}

}  // namespace

std::vector<image> loaded_images() {
  std::vector<image> images;
  for_each_image([&images](const dl_phdr_info& info) {
    const extent where = extent_of(info);
    if (where.end != 0) images.push_back(describe_image(info, where));
    return false;
  });
  return images;
}

std::optional<image> find_image(const void* address) {
  std::optional<image> found;
  for_each_image([&found, address](const dl_phdr_info& info) {
    const extent where = extent_of(info);
    if (reinterpret_cast<std::uintptr_t>(address) - where.begin >= where.end - where.begin) return false;
    found = describe_image(info, where);
    return true;
  });
  return found;
}

address_kind classify(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (value < k_lowest || value >= k_highest || !is_mapped(value)) return address_kind::none;
  if (value - k_tables_begin < k_tables_end - k_tables_begin) return address_kind::mapping;
  if (is_own_stack(value)) return address_kind::stack;
  std::ifstream in("/proc/self/maps");
  for (std::string line; std::getline(in, line);) {
    area where;
    if (!read_area(line, where) || value < where.begin || value >= where.end) continue;
    if (!where.is_readable) return address_kind::none;
    if (in_image(value)) return address_kind::image;
    if (where.name == "[stack]") return address_kind::stack;
    return where.name == "[heap]" || may_be_heap(where) ? address_kind::heap : address_kind::mapping;
  }
  return address_kind::none;
}

}  // namespace shoal::machine
