// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "checks.hpp"

namespace shoal::house {
namespace {

// How names begin that only one kind of processor has.
constexpr std::string_view k_processor_names[] = {
    "__x86_64__", "__i386__",        "__amd64__",      "__aarch64__",        "__arm__",  "__ARM_",   "__SSE",
    "__AVX",      "__builtin_ia32_", "__builtin_arm_", "__builtin_aarch64_", "_mm_",     "_mm256_",  "_mm512_",
    "__rdtsc",    "immintrin",       "emmintrin",      "x86intrin",          "arm_neon", "arm_acle", "target_clones"};
constexpr std::string_view k_roots[] = {"src", "include", "kernels", "tools", "bench"};

// Where they may be named.
struct processor_exception {
  std::string_view place;  // a file, or a folder
  std::string_view reason;
};
constexpr processor_exception k_processor_exceptions[] = {
    {"src/machine", "it wraps the machine"},
    {"src/fiber", "it wraps the registers that a switch keeps"},
    {"src/base/clock.hpp", "it wraps the processor's counter"},
    {"src/base/clock.cpp", "it wraps the processor's counter"},
    {"src/base/rough_time.hpp", "it wraps the processor's counter"},
    {"include/shoal/detail/processor.hpp", "it wraps the instructions that templates in public headers need"},
    {"src/sched/debug_layout.cpp", "it tells debuggers where a thread keeps its worker"},
    {"src/sched/debug_layout.hpp", "it tells debuggers where a thread keeps its worker"},
    {"kernels/fmm/sums.cpp", "it asks the compiler for one form of its loops for each vector unit"},
    {"bench/problems", "programs as users write them, compiled for the processor that they run on"},
    {"tools/mpi-host/start.c", "C without the library: the name of the loader; symbols of C++ names"},
    {"tools/mpi-host/start_locks.c", "C without the library: symbols of C++ names"},
    {"tools/mpi-host/start_threads.c", "C without the library: symbols of C++ names"},
    {"tools/mpi-host/call_main.cpp", "the register of the return address, for whoever unwinds"},
};

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

// A name that ends in _ or a letter may go on, unless it is a whole macro.
bool names_processor(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t after = at + name.size();
    if (at > 0 && continues_word(line[at - 1])) continue;
    if (name.ends_with("__") && after < line.size() && continues_word(line[after])) continue;
    return true;
  }
  return false;
}

// An empty text only tells the compiler something.
bool has_assembly(std::string_view line) {
  for (const std::string_view word : {"asm", "__asm__"}) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      const std::size_t after = at + word.size();
      if (at > 0 && continues_word(line[at - 1])) continue;
      if (after < line.size() && continues_word(line[after])) continue;
      const std::string_view rest = line.substr(after);
      const std::size_t open = rest.find('(');
      if (open == std::string_view::npos || rest.substr(0, open).find_first_of("\";=,)") != std::string_view::npos)
        continue;
      if (!rest.substr(open + 1).starts_with("\"\"")) return true;
    }
  }
  return false;
}

bool has_page(std::string_view line) {
  if (line.find("4096") == std::string_view::npos) return false;
  std::string lower(line);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("page") != std::string::npos;
}

std::optional<std::string> breach(std::string_view line) {
  constexpr std::string_view k_door = " belongs behind include/shoal/detail/processor.hpp, src/machine or src/fiber";
  for (const std::string_view name : k_processor_names)
    if (names_processor(line, name)) return std::string(name) + std::string(k_door);
  if (has_assembly(line)) return "assembly" + std::string(k_door);
  if (has_page(line)) return "a page of 4096 bytes is one machine's; ask machine::page_size()";
  return std::nullopt;
}

bool may_name_processor(const source_file& file) {
  return std::ranges::any_of(k_processor_exceptions,
                             [&](const processor_exception& e) { return file.path == e.place || file.under(e.place); });
}

}  // namespace

findings check_processors(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    if (!file.has_suffix({".hpp", ".cpp", ".h", ".c"}) || may_name_processor(file)) continue;
    if (std::ranges::none_of(k_roots, [&](std::string_view root) { return file.under(root); })) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (const auto what = breach(without_comment(file.lines[i])))
        found.failures.push_back(file.path + ":" + std::to_string(i + 1) + ": " + *what);
  }
  return found;
}

}  // namespace shoal::house
