// SPDX-License-Identifier: Apache-2.0
// Names of functions by address, from the symbol tables of programs and libraries, also of functions that are not
// exported.
// Who may call: one thread per object; it reads files. Not for signal handlers. Never switches tasks.
// Guarantees: an object reads each file once. Where a program is stripped there are no names.
// Shown by tests/unit/machine/symbols_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shoal::machine {

class symbols {
public:
  /// As the program writes it: "work(int)::{lambda()#1}::operator()() const". Empty if the file has no name for it.
  std::string name_of(const void* code);
  /// The same of a program or library that need not be loaded: `offset` from its first byte in memory.
  std::string name_in(const std::string& path, std::uint64_t offset);
  /// "program+0x1234", for addr2line.
  static std::string place_of(const void* code);
  /// Whether both are in the same program or library.
  static bool in_same_file(const void* one, const void* other) noexcept;
  /// Of the call behind which `code` is: "ring.c:14 (main)", if the file has been compiled with -g and addr2line
  /// (binutils) is there; else "main" or "program+0x1234". Starts a process for each new place, k_most_lines times.
  std::string call_at(const void* code);

private:
  struct function {
    std::uint64_t begin = 0;  // in the file's own numbering
    std::uint64_t end = 0;
    std::string name;
  };
  const std::vector<function>& table_of(const std::string& path);
  std::string name_at(const std::string& path, std::uint64_t offset);  // in the file's own numbering
  const std::string& line_of(const std::string& path, std::uint64_t offset);

  static constexpr std::size_t k_most_lines = 64;

  std::map<std::string, std::vector<function>> tables_;                 // by path; sorted
  std::map<std::pair<std::string, std::uint64_t>, std::string> lines_;  // of the source, by path and offset
};

}  // namespace shoal::machine
