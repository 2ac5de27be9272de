// SPDX-License-Identifier: Apache-2.0
// The header of a .shoalcsr file as bytes (for the format see csr_file.hpp); used by its reader and its writer.
// Who may call: csr_file.cpp and csr_file_writer.cpp; never switches tasks. Test:
// tests/unit/graph/csr_file_test.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace shoal::graph {

/// Converts a number between the file's and the machine's byte order.
template <class Number>
constexpr Number little_endian(Number number) noexcept {
  if constexpr (std::endian::native == std::endian::big && sizeof(Number) > 1) {
    std::make_unsigned_t<Number> result = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      result = static_cast<Number>((result << 8) | ((number >> (8 * i)) & 0xff));
    }
    return result;
  }
  return number;
}

/// Continues the CRC-32 (that of zlib, gzip and PNG) `so_far` with `bytes`. The initial value is 0.
std::uint32_t crc(std::uint32_t so_far, std::span<const std::byte> bytes);

/// What is wrong with the names if two vertices have the same; else empty.
std::string describe_equal_names(const std::vector<std::string>& names);

struct csr_layout {
  static constexpr std::size_t k_bytes = 64;
  static constexpr std::uint32_t k_version = 1;

  bool directed = false;
  bool wide = false;  // targets of 64 bits
  bool names = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t names_bytes = 0;

  /// The size of the whole file. The counts must be below 2^60.
  std::uint64_t file_bytes() const noexcept {
    return k_bytes + (vertices + 1) * sizeof(std::uint64_t) + edges * (wide ? 8 : 4) + names_bytes +
           sizeof(std::uint32_t);
  }

  std::array<std::byte, k_bytes> encode() const;

  /// Throws if the bytes are not a valid header; `name` is the file name. Does not check the counts.
  static csr_layout decode(const std::array<std::byte, k_bytes>& raw, const std::string& name);
};

}  // namespace shoal::graph
