// SPDX-License-Identifier: Apache-2.0
// Global arrays in files: each node writes and reads its own part.
//   shoal::save("rank.shoal", rank);                                  checksums per block
//   auto rank = shoal::load<double>("rank.shoal");                    on any number of nodes, in any distribution
//   shoal::save("grid.npy", grid, {.shape = {rows, columns}});        numpy.load("grid.npy") in Python
// Who may call: tasks; the folder must be shared by all nodes. All calls switch tasks; the disk blocks no worker.
// Guarantees: the order of the elements in a file does not depend on the distribution. save() writes PATH.tmp and renames
// it when all of it is on the disk: PATH is the old file or the new one. No task may modify the array meanwhile.
// Errors: shoal::error with the file's name: not_found, system (a full disk), bad_input (truncated, corrupt, with the
// position), mismatch (another type or size), exhausted (another save to that path is running). Shown by tests/cluster/files_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/array.hpp"

namespace shoal {

enum class file_format : std::uint8_t {
  by_name,  // from the end of the path: .shoal, .npy, .raw
  shoal,    // a header, and a checksum per block of 4 MiB
  npy,      // NumPy's, version 1.0
  raw       // the elements alone
};

struct save_options {
  file_format format = file_format::by_name;
  /// Rows, columns, ... whose product is the array's size, in C's order (the last index is the fastest); at most 8.
  /// Empty: one dimension.
  std::vector<std::uint64_t> shape = {};
  /// Whether the data are on the disk when save() returns, so that they survive a loss of power.
  bool sync = true;
};

/// The type of elements in a file.
struct file_type {
  char kind = 'V';  // as in numpy: i, u, f, b (bool), V (bytes)
  std::uint32_t bytes = 0;

  /// "f8": 8-byte floats.
  std::string name() const;
  bool operator==(const file_type&) const = default;
};

template <class T>
constexpr file_type file_type_of() noexcept {
  constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    return {'b', bytes};
  else if constexpr (std::is_integral_v<T>)
    return {std::is_signed_v<T> ? 'i' : 'u', bytes};
  else if constexpr (std::is_floating_point_v<T>)
    return {'f', bytes};
  else
    return {'V', bytes};
}

struct file_info {
  file_format format = file_format::shoal;
  file_type type;                    // raw: bytes
  std::uint64_t size = 0;            // elements
  std::vector<std::uint64_t> shape;  // their product is the size
};

namespace detail {
void save_array(const std::string& path, const array_layout& layout, file_type type, const save_options& options);
/// The elements of a file that has this type; throws if it has another one.
std::uint64_t elements_in(const std::string& path, file_type type, file_format format);
void load_array(const std::string& path, const array_layout& layout, file_type type, file_format format);
}  // namespace detail

template <class T>
void save(const std::string& path, const array_ref<T>& array, const save_options& options = {}) {
  detail::save_array(path, array.layout(), file_type_of<T>(), options);
}
template <class T>
void save(const std::string& path, const global_array<T>& array, const save_options& options = {}) {
  save(path, array.ref(), options);
}

/// Reads all elements of the file, which has as many as the array. If it throws, the array's elements are undefined.
template <class T>
void load(const std::string& path, const array_ref<T>& array, file_format format = file_format::by_name) {
  detail::load_array(path, array.layout(), file_type_of<T>(), format);
}
template <class T>
void load(const std::string& path, const global_array<T>& array, file_format format = file_format::by_name) {
  load(path, array.ref(), format);
}

/// An array as large as the file, distributed by `plan`.
template <class T>
global_array<T> load(const std::string& path, const distribution_plan& plan = distribution::partition,
                     file_format format = file_format::by_name) {
  global_array<T> array(detail::elements_in(path, file_type_of<T>(), format), plan);
  load(path, array.ref(), format);
  return array;
}

/// What the file says of itself; its elements are not read. A raw file is one of bytes.
file_info describe_file(const std::string& path, file_format format = file_format::by_name);

}  // namespace shoal
