// SPDX-License-Identifier: Apache-2.0
#include "launch/siphash.hpp"

#include <bit>

namespace shoal::launch {
namespace {

struct state {
  std::uint64_t a, b, c, d;

  void round() noexcept {
    a += b;
    c += d;
    b = std::rotl(b, 13) ^ a;
    d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b;
    a += d;
    b = std::rotl(b, 17) ^ c;
    d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  }
  void take(std::uint64_t word) noexcept {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

}  // namespace

std::uint64_t siphash(const siphash_key& key, std::span<const std::byte> message) noexcept {
  constexpr std::size_t word_bytes = 8;
  const std::uint64_t low = little_endian(std::span(key).first(word_bytes));
  const std::uint64_t high = little_endian(std::span(key).last(word_bytes));
  // "somepseudorandomlygeneratedbytes"
  state s{low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261, high ^ 0x7465646279746573};
  const std::uint64_t length = message.size();
  for (; message.size() >= word_bytes; message = message.subspan(word_bytes))
    s.take(little_endian(message.first(word_bytes)));
  s.take(little_endian(message) | length << 56);
  s.c ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.a ^ s.b ^ s.c ^ s.d;
}

}  // namespace shoal::launch
