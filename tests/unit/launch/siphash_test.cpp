// SPDX-License-Identifier: Apache-2.0
#include "launch/siphash.hpp"

#include <gtest/gtest.h>

#include <array>

namespace shoal::launch {
namespace {

// Of the messages 00, 00 01, 00 01 02, ... with the key 00 01 ... 0f, from the empty one on; the sixteenth is worked out
// in the paper's appendix.
constexpr std::uint64_t k_published[] = {
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5};

TEST(siphash, gives_the_published_values) {
  siphash_key key{};
  std::array<std::byte, 16> message{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = message[i] = static_cast<std::byte>(i);
  for (std::size_t length = 0; length < std::size(k_published); ++length)
    EXPECT_EQ(siphash(key, std::span(message).first(length)), k_published[length]) << length;
}

TEST(siphash, every_bit_of_key_and_message_matters) {
  siphash_key key{};
  std::array<std::byte, 21> message{};
  const std::uint64_t before = siphash(key, message);
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    message[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(siphash(key, message), before) << bit;
    message[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (std::size_t bit = 0; bit < key.size() * 8; ++bit) {
    key[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(siphash(key, message), before) << bit;
    key[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(siphash(key, message), before);
}

}  // namespace
}  // namespace shoal::launch
