// SPDX-License-Identifier: Apache-2.0
#include "graph/csr_layout.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "graph/csr_file.hpp"
#include "graph/input_error.hpp"

namespace shoal::graph {
namespace {

constexpr std::uint32_t k_order_mark = 0x01020304;
constexpr std::uint32_t k_order_mark_reversed = 0x04030201;
constexpr std::uint64_t k_directed = 1;
constexpr std::uint64_t k_wide = 2;
constexpr std::uint64_t k_names = 4;
constexpr std::size_t k_zeros_at = 48;
constexpr std::size_t k_checksum_at = 60;

template <class Number>
void store(std::array<std::byte, csr_layout::k_bytes>& raw, std::size_t at, Number number) {
  number = little_endian(number);
  std::memcpy(raw.data() + at, &number, sizeof number);
}

template <class Number>
Number load(const std::array<std::byte, csr_layout::k_bytes>& raw, std::size_t at) {
  Number number{};
  std::memcpy(&number, raw.data() + at, sizeof number);
  return little_endian(number);
}

}  // namespace

std::string describe_equal_names(const std::vector<std::string>& names) {
  const auto twice = equally_named(names);
  if (!twice) return {};
  return fmt::format("vertices {} and {} are both named {}; give each vertex a name of its own", twice->first,
                     twice->second, in_quotes(names[twice->first]));
}

std::uint32_t crc(std::uint32_t so_far, std::span<const std::byte> bytes) {
  if (bytes.empty()) return so_far;  // zlib takes a null pointer as a request to start
  return static_cast<std::uint32_t>(crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::array<std::byte, csr_layout::k_bytes> csr_layout::encode() const {
  std::array<std::byte, k_bytes> raw{};
  std::memcpy(raw.data(), k_csr_magic.data(), k_csr_magic.size());
  store(raw, 8, k_version);
  store(raw, 12, k_order_mark);
  store(raw, 16, (directed ? k_directed : 0) | (wide ? k_wide : 0) | (names ? k_names : 0));
  store(raw, 24, vertices);
  store(raw, 32, edges);
  store(raw, 40, names_bytes);
  store(raw, k_checksum_at, crc(0, std::span{raw}.first(k_checksum_at)));
  return raw;
}

csr_layout csr_layout::decode(const std::array<std::byte, k_bytes>& raw, const std::string& name) {
  if (std::memcmp(raw.data(), k_csr_magic.data(), k_csr_magic.size()) != 0) {
    refuse(name, fmt::format("does not begin with {}; it is not a .shoalcsr file", k_csr_magic));
  }
  const auto mark = load<std::uint32_t>(raw, 12);
  if (mark == k_order_mark_reversed) refuse(name, "is written with the other byte order; only little endian is read");
  if (mark != k_order_mark) refuse(name, "is corrupt: the byte order mark is wrong");
  const auto version = load<std::uint32_t>(raw, 8);
  if (version != k_version)
    refuse(name, fmt::format("is of version {}; this program reads version {}", version, k_version));
  if (load<std::uint32_t>(raw, k_checksum_at) != crc(0, std::span{raw}.first(k_checksum_at))) {
    refuse(name, "is corrupt: the checksum of the header does not match");
  }
  const auto flags = load<std::uint64_t>(raw, 16);
  const auto zeros = std::span{raw}.subspan(k_zeros_at, k_checksum_at - k_zeros_at);
  if ((flags & ~(k_directed | k_wide | k_names)) != 0 ||
      std::any_of(zeros.begin(), zeros.end(), [](std::byte b) { return b != std::byte{}; })) {
    refuse(name, fmt::format("has flags that this program does not know ({:#x}); it needs a newer one", flags));
  }
  csr_layout layout;
  layout.directed = (flags & k_directed) != 0;
  layout.wide = (flags & k_wide) != 0;
  layout.names = (flags & k_names) != 0;
  layout.vertices = load<std::uint64_t>(raw, 24);
  layout.edges = load<std::uint64_t>(raw, 32);
  layout.names_bytes = load<std::uint64_t>(raw, 40);
  if (!layout.names && layout.names_bytes != 0) refuse(name, "has bytes of names but declares no names");
  return layout;
}

}  // namespace shoal::graph
