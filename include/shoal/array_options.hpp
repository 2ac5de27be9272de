// SPDX-License-Identifier: Apache-2.0
// How a new global array's memory is to be: its name in reports, its pages, its place on the machine's memory nodes.
//   global_array<double> ranks(n, shoal::distribution::partition, {.name = "ranks"});
//   global_array<entry> table(n, {.pages = shoal::array_pages::small, .placement = shoal::memory_nodes::interleave});
// Who may call: any thread; values. What the system granted: global_array::memory().
// Where the array is made in the program's source is noted by itself, for shoal/memory_use.hpp.
// Shown by tests/cluster/memory_use_test.cpp, tests/cluster/placement_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

/// A place in the source; as a default argument, that of the call.
class code_place {
public:
  constexpr code_place() noexcept = default;  // not known
  static constexpr code_place here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
  constexpr const char* file() const noexcept { return file_; }
  constexpr unsigned line() const noexcept { return line_; }

private:
  constexpr code_place(const char* file, unsigned line) noexcept : file_(file), line_(line) {}

  const char* file_ = "";
  unsigned line_ = 0;
};

enum class array_pages : std::uint8_t {
  as_set,  // by the setting pages
  small,   // as its value 4k, the machine's ordinary pages: for arrays of which little is used
  huge     // as its value huge-try: 2 MiB, as far as the system grants them
};

enum class memory_nodes : std::uint8_t {
  first_touch,  // each piece of 4 MiB near the worker that takes it: that which a static loop over the part gives it to
  interleave    // pieces of 2 MiB, or small pages, on the memory nodes in turn: for accesses from all workers alike
};

struct array_options {
  std::string_view name = {};  // in reports; what is longer than 40 bytes is cut
  array_pages pages = array_pages::as_set;
  memory_nodes placement = memory_nodes::first_touch;
};

namespace detail {

/// Name and place as they travel to other nodes: without pointers. What is unused is no zero, so that no word of it
/// can be taken for a pointer.
class allocation_label {
public:
  allocation_label() noexcept { fill(text_, text_ + sizeof text_, k_unused); }
  /// Of the file's path its last two parts are kept.
  allocation_label(std::string_view name, code_place where) noexcept;

  std::string_view name() const noexcept { return {text_, name_bytes_}; }
  /// "src/rank.cpp:41"; empty if it is not known.
  std::string_view place() const noexcept { return {text_ + k_name_bytes, place_bytes_}; }

private:
  static constexpr std::size_t k_name_bytes = 40;
  static constexpr std::size_t k_place_bytes = 54;
  static constexpr char k_unused = '\xff';
  static void fill(char* from, char* to, char value) noexcept {
    while (from != to) *from++ = value;
  }

  char text_[k_name_bytes + k_place_bytes];
  std::uint8_t name_bytes_ = 0;
  std::uint8_t place_bytes_ = 0;
};

/// What an allocation asks for beside size and distribution.
struct allocation {
  array_options options;
  code_place where;
  const allocation_label* label = nullptr;  // instead of the name and the place
};

}  // namespace detail
}  // namespace shoal
