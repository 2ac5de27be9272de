// SPDX-License-Identifier: Apache-2.0
// The layout of an array's file, and its header: encode and decode, bytes only.
//   .shoal  4096 bytes: magic, version, an id of this file, type, shape, elements per block, checksum of all that;
//           the elements; then a checksum per block (XXH3, 64 bits), seeded by the id and the block's number
//   .npy    NumPy's header, version 1.0 (read: also 2.0 and 3.0); the elements
//   .raw    the elements
// All numbers are little-endian. The seed makes a block of another file, or of an earlier file of that name, a wrong one.
// Who may call: any thread. Never switches tasks. Errors: shoal::error (bad_input), which begins with the file's name.
// Shown by tests/unit/files/array_file_test.cpp, tests/fuzz/array_file_fuzz.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shoal/files.hpp"

namespace shoal::files {

static_assert(std::endian::native == std::endian::little, "files hold the memory of little-endian processors");

inline constexpr std::uint64_t k_block_bytes = std::uint64_t{4} << 20;
inline constexpr std::size_t k_header_bytes = 4096;  // of .shoal; of .npy at most this when we write
/// A reader needs so much of a file's beginning.
inline constexpr std::size_t k_most_header_bytes = std::size_t{64} << 10;
inline constexpr std::size_t k_most_dimensions = 8;

/// Trivially copyable: nodes send it to each other.
struct array_file {
  file_format format = file_format::shoal;
  file_type type;
  std::uint64_t size = 0;
  std::uint32_t dimensions = 1;
  std::array<std::uint64_t, k_most_dimensions> shape{};
  std::uint64_t id = 0;
  std::uint64_t block_elements = 1;
  std::uint64_t data_offset = 0;

  std::uint64_t data_bytes() const noexcept { return size * type.bytes; }
  std::uint64_t blocks() const noexcept { return size / block_elements + (size % block_elements != 0 ? 1 : 0); }
  bool has_checksums() const noexcept { return format == file_format::shoal; }
  std::uint64_t checksum_offset(std::uint64_t block) const noexcept {
    return (data_offset + data_bytes() + 7) / 8 * 8 + 8 * block;
  }
  std::uint64_t file_bytes() const noexcept {
    return has_checksums() ? checksum_offset(blocks()) : data_offset + data_bytes();
  }
  std::uint64_t elements_of(std::uint64_t block) const noexcept {
    return std::min(block_elements, size - block * block_elements);
  }
  std::uint64_t offset_of(std::uint64_t block) const noexcept {
    return data_offset + block * block_elements * type.bytes;
  }
  std::uint64_t checksum(std::uint64_t block, std::span<const std::byte> data) const noexcept;

  std::span<const std::uint64_t> extents() const noexcept { return {shape.data(), dimensions}; }
};

/// From the end of the path, if the format is by_name; shoal::error (invalid_argument) if that says nothing.
file_format format_of(const std::string& path, file_format format);

/// Of a new file; shoal::error (invalid_argument) if the shape does not fit.
array_file plan_file(const std::string& path, file_type type, std::uint64_t size, const save_options& options);
/// The bytes before the elements; plan_file() has left room for them.
std::string header_of(const array_file& file);

/// `begin`: the file's first bytes, k_most_header_bytes or all. `wanted`: of a raw file.
array_file read_header(const std::string& path, file_format format, std::span<const std::byte> begin,
                       std::uint64_t file_bytes, file_type wanted);

/// Of a .shoal header: what it must say is its checksum.
std::uint64_t header_checksum(std::span<const std::byte> header) noexcept;

/// Throws bad_input.
[[noreturn]] void refuse_file(const std::string& path, const std::string& what);

}  // namespace shoal::files
