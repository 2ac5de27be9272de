// SPDX-License-Identifier: Apache-2.0
#include "machine/copied_image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <shoal/error.hpp>
#include <utility>

#include "machine/descriptor.hpp"
#include "machine/memory_info.hpp"

namespace shoal::machine {
namespace {

using header = ElfW(Ehdr);
using segment_header = ElfW(Phdr);
using dynamic_entry = ElfW(Dyn);
using section_header = ElfW(Shdr);
using symbol = ElfW(Sym);

constexpr unsigned char k_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr const char* k_how_to_build = "compile it with -fPIC and link it with -shared";

std::uint64_t down(std::uint64_t at) noexcept { return at / page_size() * page_size(); }
std::uint64_t up(std::uint64_t at) noexcept { return down(at + page_size() - 1); }

std::uint64_t next_copy() noexcept {
  static std::atomic<std::uint64_t> copies{0};  // the loader's list is the process's, too
  return copies.fetch_add(1, std::memory_order_relaxed) + 1;
}

// A path to that descriptor that no other copy in this process was loaded under: the loader gives back what it has
// loaded under the same path, also after the descriptor's number has gone to another file. It has the number of the
// process: a debugger opens it, too, while the copy is being loaded.
std::string path_of(int descriptor, std::uint64_t number, std::size_t least_length) {
  std::array<char, 32> self;
  const ssize_t length = ::readlink("/proc/self", self.data(), self.size());
  std::string path =
      "/proc/" + (length > 0 ? std::string(self.data(), static_cast<std::size_t>(length)) : "self") + "/fd/";
  for (std::uint64_t n = number; n != 0; n /= 2) path += n % 2 != 0 ? "./" : "/";
  path.resize(std::max(path.size(), least_length), '/');
  return path + std::to_string(descriptor);
}

// Variables of templates and inline functions are unique in a process, as g++ marks them, however many copies there are.
// As plain symbols they are found in the copy itself.
void make_private(std::span<symbol> symbols) noexcept {
  for (symbol& s : symbols)
    if (ELF64_ST_BIND(s.st_info) == STB_GNU_UNIQUE) s.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(s.st_info));
}

std::string most_mappings() {
  std::uint64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most == 0 ? "a limit that is not known" : std::to_string(most);
}

}  // namespace

void copied_image::refuse(const char* why) const {
  throw error(errc::invalid_argument,
              fmt::format("{} {}, so a process cannot load several copies of it; {}", path(), why, k_how_to_build));
}

template <class T>
std::span<const T> copied_image::at(std::uint64_t offset, std::uint64_t count) const {
  if (offset % alignof(T) != 0 || offset > content_.size() || count > (content_.size() - offset) / sizeof(T))
    refuse("is cut off");
  return {reinterpret_cast<const T*>(content_.data() + offset), count};
}

std::vector<std::string> copied_image::libraries_of(const std::string& path) {
  try {
    return copied_image(path, {}, wanted::names).needed_;
  } catch (const error&) {
    return {};
  }
}

copied_image::copied_image(const std::string& path, std::string shown, wanted what)
    : file_(path, file::purpose::read), wanted_(what), shown_(std::move(shown)) {
  content_.resize(file_.size_bytes());
  content_.resize(file_.read_at(content_, 0));
  if (content_.size() < sizeof(header) || std::memcmp(content_.data(), ELFMAG, SELFMAG) != 0)
    refuse("is no program (a script, perhaps)");
  const header& head = at<header>(0, 1)[0];
  if (head.e_ident[EI_CLASS] != k_class) refuse("is a program for another kind of machine");
  if (head.e_type == ET_EXEC) refuse_copies("is linked to a fixed address");
  if ((head.e_type != ET_DYN && head.e_type != ET_EXEC) || head.e_phentsize != sizeof(segment_header))
    refuse("is no linked program");
  read_parts();
  if (head.e_shentsize != sizeof(section_header)) return;  // a program need not have sections
  for (const section_header& s : at<section_header>(head.e_shoff, head.e_shnum)) {
    if (s.sh_type != SHT_DYNSYM) continue;
    const std::uint64_t count = s.sh_size / sizeof(symbol);
    static_cast<void>(at<symbol>(s.sh_offset, count));
    make_private({reinterpret_cast<symbol*>(content_.data() + s.sh_offset), count});
  }
}

void copied_image::read_parts() {
  const header& head = at<header>(0, 1)[0];
  const auto segments = at<segment_header>(head.e_phoff, head.e_phnum);
  for (const segment_header& s : segments) {
    if (s.p_type == PT_DYNAMIC) read_names(s.p_offset, s.p_filesz);
    if (s.p_type == PT_GNU_RELRO) ++mappings_;
    if (s.p_type != PT_LOAD) continue;
    static_cast<void>(at<std::byte>(s.p_offset, s.p_filesz));
    ++mappings_;
    if (s.p_memsz < s.p_filesz || s.p_vaddr + s.p_memsz < s.p_vaddr) refuse("is damaged");
    const std::uint64_t first = down(s.p_vaddr);
    const std::uint64_t bytes = up(s.p_vaddr + s.p_memsz) - first;
    const bool shared = (s.p_flags & PF_W) == 0 && s.p_memsz == s.p_filesz &&
                        std::ranges::none_of(segments, [&](const segment_header& other) {
                          return other.p_type == PT_LOAD && (other.p_flags & PF_W) != 0 &&
                                 down(other.p_vaddr) < first + bytes && first < up(other.p_vaddr + other.p_memsz);
                        });
    if (!shared) {
      private_bytes_ += bytes;
      if (up(s.p_vaddr + s.p_filesz) < up(s.p_vaddr + s.p_memsz)) ++mappings_;
      continue;
    }
    shared_bytes_ += bytes;
    part p{first, down(s.p_offset), bytes,
           ((s.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((s.p_flags & PF_X) != 0 ? PROT_EXEC : 0)};
    p.own_offset = up(s.p_offset);
    if (const std::uint64_t end = down(s.p_offset + s.p_filesz); end > p.own_offset) p.own_bytes = end - p.own_offset;
    read_only_.push_back(p);
  }
}

void copied_image::read_names(std::uint64_t offset, std::uint64_t bytes) {
  const auto entries = at<dynamic_entry>(offset, bytes / sizeof(dynamic_entry));
  const auto end = std::ranges::find(entries, DT_NULL, &dynamic_entry::d_tag);
  const auto texts = std::find_if(entries.begin(), end, [](const dynamic_entry& d) { return d.d_tag == DT_STRTAB; });
  const std::uint64_t base = texts == end ? 0 : offset_of(texts->d_un.d_ptr);
  for (const dynamic_entry& d : std::span(entries.begin(), end)) {
    const std::uint64_t value = d.d_un.d_val;
    if (d.d_tag == DT_TEXTREL || (d.d_tag == DT_FLAGS && (value & DF_TEXTREL) != 0))
      refuse_copies("has addresses in its code");
    if (d.d_tag == DT_FLAGS_1 && (value & DF_1_PIE) != 0) refuse_copies("is an executable");
    if (base == 0) continue;
    if (d.d_tag == DT_NEEDED) needed_.emplace_back(text_at(base + value));
    if (d.d_tag == DT_NEEDED || d.d_tag == DT_SONAME)
      names_.push_back({std::string(text_at(base + value)), base + value});
    if (d.d_tag != DT_RUNPATH && d.d_tag != DT_RPATH) continue;
    for (std::string_view list = text_at(base + value); !list.empty();) {
      const auto length = std::min(list.find(':'), list.size());
      folders_.emplace_back(list.substr(0, length));
      list.remove_prefix(std::min(length + 1, list.size()));
    }
  }
}

std::uint64_t copied_image::offset_of(std::uint64_t address) const {
  const header& head = at<header>(0, 1)[0];
  for (const segment_header& s : at<segment_header>(head.e_phoff, head.e_phnum)) {
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return address - s.p_vaddr + s.p_offset;
  }
  refuse("is damaged");
}

std::string_view copied_image::text_at(std::uint64_t offset) const {
  if (offset >= content_.size()) refuse("is damaged");
  const auto* const first = reinterpret_cast<const char*>(content_.data() + offset);
  return {first, strnlen(first, content_.size() - offset)};
}

copied_image::loaded copied_image::load(std::span<const renaming> names) const {
  constexpr std::size_t k_longest_name = 200;  // the system takes 249
  const std::string name = path().substr(path().rfind('/') + 1);
  descriptor copy(open_memory_file(name.substr(0, k_longest_name)));
  if (!copy.open())
    throw error(errc::system, fmt::format("no file in memory for a copy of {}: {}; raise the limit on open files "
                                          "(ulimit -n), or start fewer copies",
                                          path(), std::strerror(errno)));
  const auto write = [&](std::span<const std::byte> bytes, std::uint64_t offset) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::pwrite(copy.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        throw error(errc::out_of_memory,
                    fmt::format("no memory for another copy of {}: {}; {} for each copy: start fewer copies", path(),
                                std::strerror(errno), describe_bytes(content_.size())));
      done += static_cast<std::size_t>(n);
    }
  };
  write(content_, 0);
  for (const renaming& r : names) {
    for (const place& p : names_)
      if (p.name == r.from) write(std::as_bytes(std::span(r.to)), p.offset);
  }
  const std::string from = path_of(copy.number(), is_debugged() ? told_name() : next_copy(), shown_.size());
  void* const handle = ::dlopen(from.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    throw error(
        errc::unsupported,
        fmt::format("another copy of {} cannot be loaded: {}; each copy takes {} mappings, of which a process "
                    "may have {} (vm.max_map_count); have fewer copies in a process",
                    path(), reason == nullptr ? "the loader gives no reason" : reason, mappings_, most_mappings()));
  }
  return {handle, copy.release()};
}

// The address of a string in the path of a copy: tools/mpi-host/debug_names.c reads it. The loader remembers the path, so
// the string stays.
std::uint64_t copied_image::told_name() const {
  char* const name = ::strdup(shown_.c_str());
  if (name == nullptr) return next_copy();
  const std::lock_guard hold(names_mutex_);
  earlier_names_.emplace_back(name);
  return reinterpret_cast<std::uintptr_t>(name);
}

// A debugger that was told of the copy has perhaps set breakpoints in it already. Such pages stay as they are.
bool copied_image::map_shared(const part& p, std::byte* to) const {
  const auto map = [&](std::uint64_t first, std::uint64_t bytes) {
    return bytes == 0 || ::mmap(to + first, bytes, p.protection, MAP_PRIVATE | MAP_FIXED, file_.number(),
                                static_cast<off_t>(p.offset + first)) != MAP_FAILED;
  };
  if (!is_debugged() || (p.protection & PROT_EXEC) == 0) return map(0, p.bytes);
  std::uint64_t begin = 0;
  for (std::uint64_t at = 0; at < p.bytes; at += page_size()) {
    const std::uint64_t in_file = std::min<std::uint64_t>(p.offset + at, content_.size());
    const std::size_t bytes = std::min<std::size_t>(page_size(), content_.size() - in_file);
    if (std::memcmp(to + at, content_.data() + in_file, bytes) == 0) continue;
    if (!map(begin, at - begin)) return false;
    begin = at + page_size();
  }
  return begin >= p.bytes || map(begin, p.bytes - begin);
}

// Gives the memory of shared pages back, and names the copy after the original, for debuggers and call stacks.
void copied_image::share(const loaded& copy) const {
  link_map* map = nullptr;
  if (::dlinfo(copy.handle, RTLD_DI_LINKMAP, &map) != 0) return;
  for (const part& p : read_only_) {
    if (!map_shared(p, reinterpret_cast<std::byte*>(map->l_addr + p.address))) continue;
    if (p.own_bytes != 0)
      static_cast<void>(::fallocate(copy.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                    static_cast<off_t>(p.own_offset), static_cast<off_t>(p.own_bytes)));
  }
  const std::string& to_show = is_debugged() ? shown_ : path();
  if (to_show == map->l_name) return;
  char* const name = ::strdup(to_show.c_str());
  if (name == nullptr) return;
  // Another thread that loads a copy may be reading the earlier one.
  const std::lock_guard hold(names_mutex_);
  earlier_names_.emplace_back(std::atomic_ref(map->l_name).exchange(name, std::memory_order_acq_rel));
}

}  // namespace shoal::machine
