// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/elf_file.hpp"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace shoal::mpi_threads {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_most_bytes = std::uintmax_t{1} << 30;  // larger files are not read

// The bytes of a file. Reads beyond its end return zero or nothing.
class image {
public:
  explicit image(const std::string& path) {
    std::error_code problem;
    if (!fs::is_regular_file(path, problem) || fs::file_size(path, problem) > k_most_bytes) return;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    bytes_ = std::move(all).str();
  }
  template <typename Record>
  std::optional<Record> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) return std::nullopt;
    Record record;
    std::memcpy(&record, bytes_.data() + offset, sizeof record);
    return record;
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const std::string_view rest = std::string_view(bytes_).substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

private:
  std::string bytes_;
};

std::uint64_t offset_of_address(const image& file, const Elf64_Ehdr& head, std::uint64_t address) {
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    const auto part = file.at<Elf64_Phdr>(head.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (part && part->p_type == PT_LOAD && address >= part->p_vaddr && address - part->p_vaddr < part->p_filesz)
      return address - part->p_vaddr + part->p_offset;
  }
  return UINT64_MAX;
}

void read_dynamic(const image& file, const Elf64_Ehdr& head, const Elf64_Phdr& part, const std::string& folder,
                  elf_file& result) {
  std::vector<Elf64_Dyn> entries;
  std::uint64_t strings = UINT64_MAX;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= part.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.at<Elf64_Dyn>(part.p_offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_PIE) != 0) result.program = true;
    if (entry->d_tag == DT_STRTAB) strings = offset_of_address(file, head, entry->d_un.d_ptr);
    entries.push_back(*entry);
  }
  if (strings == UINT64_MAX) return;
  for (const Elf64_Dyn& entry : entries) {
    const std::string text = file.text(strings + entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED) result.needed.push_back(text);
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    std::istringstream parts(text);
    for (std::string one; std::getline(parts, one, ':');) {
      if (const auto place = one.find("$ORIGIN"); place != std::string::npos) one.replace(place, 7, folder);
      result.search.push_back(one);
    }
  }
}

bool defines(const image& file, const Elf64_Ehdr& head, const std::string& wanted) {
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const auto section = file.at<Elf64_Shdr>(head.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)) continue;
    const auto strings = file.at<Elf64_Shdr>(head.e_shoff + std::uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
    if (!strings) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(section->sh_offset + at);
      if (!symbol) break;
      if (symbol->st_shndx != SHN_UNDEF && file.text(strings->sh_offset + symbol->st_name) == wanted) return true;
    }
  }
  return false;
}

std::string find_library(const std::string& name, const std::vector<std::string>& search) {
  std::vector<std::string> folders = search;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream parts(path);
    for (std::string one; std::getline(parts, one, ':');) folders.push_back(one);
  }
  for (const char* usual : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64",
                            "/usr/lib64", "/usr/local/lib", "/lib", "/usr/lib"})
    folders.emplace_back(usual);
  for (const std::string& folder : folders) {
    std::error_code problem;
    const fs::path path = fs::path(folder) / name;
    if (!folder.empty() && fs::is_regular_file(path, problem)) return path.string();
  }
  return "";
}

std::optional<std::string> mpi_within(const elf_file& file, std::set<std::string>& seen) {
  for (const std::string& name : file.needed) {
    if (auto mpi = mpi_of_library(name)) return mpi;
  }
  for (const std::string& name : file.needed) {
    if (!seen.insert(name).second) continue;
    const std::string path = find_library(name, file.search);
    if (path.empty()) continue;
    if (auto mpi = mpi_within(read_elf(path), seen)) return mpi;
  }
  return std::nullopt;
}

}  // namespace

elf_file read_elf(const std::string& path) {
  elf_file result;
  const image file(path);
  const auto head = file.at<Elf64_Ehdr>(0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64) return result;
  result.elf = true;
  result.program = head->e_type == ET_EXEC;
  const std::string folder = fs::path(path).parent_path().string();
  for (unsigned i = 0; i < head->e_phnum; ++i) {
    const auto part = file.at<Elf64_Phdr>(head->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!part) break;
    if (part->p_type == PT_INTERP) result.program = result.dynamic = true;
    if (part->p_type == PT_DYNAMIC) read_dynamic(file, *head, *part, folder, result);
  }
  result.defines_mpi = defines(file, *head, "MPI_Init");
  return result;
}

std::optional<std::string> mpi_of_library(const std::string& name) {
  if (name.starts_with("libmpi_abi.so")) return "abi";
  if (name.starts_with("libmpich.so")) return "mpich";
  if (name.starts_with("libmpi.so.")) {  // Open MPI: 40 and higher since version 3; MPICH and derivatives: 12
    const int version = std::atoi(name.c_str() + std::strlen("libmpi.so."));
    return version >= 20 ? "openmpi" : "mpich";
  }
  return std::nullopt;
}

std::optional<std::string> mpi_of_program(const std::string& path) {
  std::set<std::string> seen;
  return mpi_within(read_elf(path), seen);
}

}  // namespace shoal::mpi_threads
