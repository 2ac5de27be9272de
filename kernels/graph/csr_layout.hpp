// SPDX-License-Identifier: Apache-2.0
// The header of a .shoalcsr as bytes (csr_file.hpp tells the format): shared by its reader and its writer.
// Who may call: csr_file.cpp and csr_file_writer.cpp; never switches tasks.
// Shown by tests/unit/kernels_graph/csr_file_test.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace shoal::kernels::graph {

/// A number as the file has it from one as the machine has it, and back.
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

/// CRC-32 (that of zlib, gzip and PNG) of what `so_far` stands for, followed by `bytes`. Begins with 0.
std::uint32_t crc(std::uint32_t so_far, std::span<const std::byte> bytes);

struct csr_layout {
  static constexpr std::size_t k_bytes = 64;
  static constexpr std::uint32_t k_version = 1;

  bool directed = false;
  bool wide = false;  // targets of 64 bits
  bool names = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t names_bytes = 0;

  /// Of the whole file. The counts must be below 2^60.
  std::uint64_t file_bytes() const noexcept {
    return k_bytes + (vertices + 1) * sizeof(std::uint64_t) + edges * (wide ? 8 : 4) + names_bytes +
           sizeof(std::uint32_t);
  }

  std::array<std::byte, k_bytes> encode() const;

  /// Refuses what is no header; `name` is the file's. The counts are not judged here.
  static csr_layout decode(const std::array<std::byte, k_bytes>& raw, const std::string& name);
};

}  // namespace shoal::kernels::graph
