// SPDX-License-Identifier: Apache-2.0
// SHA-1 (FIPS 180-4) of the two short messages that the tree needs: each is one block, so one compression. Five words
// stand for the 20 bytes, big-endian as SHA-1 reads and writes them. Portable, no special instructions; every loop is
// unrolled, so that words stay in registers. Shown by the published sizes of the trees, which fail with one bit wrong.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shoal::kernels::uts {

using digest = std::array<std::uint32_t, 5>;

namespace sha1_detail {

constexpr digest k_start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

template <unsigned Round>
[[gnu::always_inline]] inline std::uint32_t mixed(std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if constexpr (Round < 20)
    return (d ^ (b & (c ^ d))) + 0x5a827999U;
  else if constexpr (Round < 40)
    return (b ^ c ^ d) + 0x6ed9eba1U;
  else if constexpr (Round < 60)
    return ((b & c) | (d & (b | c))) + 0x8f1bbcdcU;
  else
    return (b ^ c ^ d) + 0xca62c1d6U;
}

// The five variables are an array that does not move: in round r, variable a is at index (80 - r) mod 5.
template <unsigned Round>
[[gnu::always_inline]] inline void round(std::uint32_t (&v)[5], std::uint32_t (&w)[16]) {
  constexpr unsigned k_a = (80 - Round) % 5;
  std::uint32_t& b = v[(k_a + 1) % 5];
  std::uint32_t& e = v[(k_a + 4) % 5];
  std::uint32_t& word = w[Round % 16];
  if constexpr (Round >= 16)
    word = std::rotl(w[(Round + 13) % 16] ^ w[(Round + 8) % 16] ^ w[(Round + 2) % 16] ^ word, 1);
  e += std::rotl(v[k_a], 5) + mixed<Round>(b, v[(k_a + 2) % 5], v[(k_a + 3) % 5]) + word;
  b = std::rotl(b, 30);
}

template <std::size_t... Rounds>
[[gnu::always_inline]] inline digest compress(std::uint32_t (&w)[16], std::index_sequence<Rounds...>) {
  std::uint32_t v[5] = {k_start[0], k_start[1], k_start[2], k_start[3], k_start[4]};
  (round<static_cast<unsigned>(Rounds)>(v, w), ...);
  return {v[0] + k_start[0], v[1] + k_start[1], v[2] + k_start[2], v[3] + k_start[3], v[4] + k_start[4]};
}

}  // namespace sha1_detail

/// SHA-1 of sixteen zero bytes and `seed`: the state of a tree's root.
inline digest sha1_of_seed(std::uint32_t seed) {
  std::uint32_t w[16] = {0, 0, 0, 0, seed, 0x80000000U, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8};
  return sha1_detail::compress(w, std::make_index_sequence<80>());
}

/// SHA-1 of a node's state and a child's number: that child's state.
inline digest sha1_of_child(const digest& d, std::uint32_t child) {
  std::uint32_t w[16] = {d[0], d[1], d[2], d[3], d[4], child, 0x80000000U, 0, 0, 0, 0, 0, 0, 0, 0, 24 * 8};
  return sha1_detail::compress(w, std::make_index_sequence<80>());
}

}  // namespace shoal::kernels::uts
