// SPDX-License-Identifier: Apache-2.0
// The manifest of a checkpoint: which arrays and values it has. Text, one line for each, and a checksum of all lines:
//   shoal checkpoint 1
//   number 7
//   nodes 2
//   array rank f8 1000000 5f3c00a1b2c3d4e5 1000x1000      type, elements, the id in the array's file, shape
//   value round u8 0700000000000000                       type, bytes
//   checksum 0123456789abcdef
// Who may call: any thread. Never switches tasks. Errors: shoal::error (bad_input), which begins with the file's name and
// has the line. Shown by tests/unit/files/manifest_test.cpp, tests/fuzz/manifest_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/files.hpp"

namespace shoal::files {

inline constexpr std::size_t k_most_name_bytes = 100;
inline constexpr std::size_t k_most_value_bytes = std::size_t{64} << 10;
inline constexpr std::size_t k_most_manifest_bytes = std::size_t{16} << 20;

struct saved_array {
  std::string name;
  file_type type;
  std::uint64_t size = 0;
  std::uint64_t file_id = 0;  // files of the same name in other checkpoints have another one
  std::vector<std::uint64_t> shape;
};

struct saved_value {
  std::string name;
  file_type type;
  std::string bytes;
};

struct manifest {
  std::uint64_t number = 0;
  std::uint32_t nodes = 0;  // that have written it
  std::vector<saved_array> arrays;
  std::vector<saved_value> values;
};

/// Letters, digits, '_', '-' and '.', the first no '.': names become those of files.
bool is_checkpoint_name(std::string_view name) noexcept;

/// "1000x1000"
std::string describe_shape(const std::vector<std::uint64_t>& shape);

std::string text_of(const manifest& m);
manifest read_manifest(const std::string& path, std::string_view text);

/// The last line of a manifest that has these lines before it.
std::string checksum_line(std::string_view lines);

}  // namespace shoal::files
