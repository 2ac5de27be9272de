// SPDX-License-Identifier: Apache-2.0
#include "launch/handshake.hpp"

#include <gtest/gtest.h>

namespace shoal::launch {
namespace {

TEST(handshake, secrets_are_written_and_read) {
  const job_secret secret = new_secret();
  const std::string text = secret_text(secret);
  EXPECT_EQ(text.size(), 32U);
  EXPECT_EQ(parse_secret(text), secret);
  EXPECT_NE(new_secret(), secret);
  EXPECT_FALSE(parse_secret(text.substr(1)));
  EXPECT_FALSE(parse_secret(text + "0"));
  EXPECT_FALSE(parse_secret(std::string(31, '0') + "g"));
}

TEST(handshake, messages_are_written_and_read) {
  const opening o{k_control_version, 7, new_nonce()};
  const auto read = opening::parse(o.bytes());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node, 7U);
  EXPECT_EQ(read->number, o.number);
  auto wrong = o.bytes();
  wrong[0] ^= std::byte{1};
  EXPECT_FALSE(opening::parse(wrong));
  EXPECT_FALSE(challenge::parse(o.bytes()));  // a node that meets itself meets no hub

  const challenge c{k_control_version, new_nonce(), 0x0123456789abcdef};
  const auto again = challenge::parse(c.bytes());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->number, c.number);
  EXPECT_EQ(again->proof, c.proof);
  EXPECT_EQ(parse_answer(answer_bytes(c.proof)), c.proof);
}

TEST(handshake, a_proof_is_worth_nothing_elsewhere) {
  const job_secret secret = new_secret();
  const opening o{k_control_version, 1, new_nonce()};
  const nonce n = new_nonce();
  const std::uint64_t proof = node_proof(secret, o, n);
  EXPECT_EQ(node_proof(secret, o, n), proof);
  EXPECT_NE(hub_proof(secret, o, n), proof) << "nor in the other direction";
  EXPECT_NE(node_proof(new_secret(), o, n), proof);
  EXPECT_NE(node_proof(secret, o, new_nonce()), proof);
  EXPECT_NE(node_proof(secret, {k_control_version, 1, new_nonce()}, n), proof);
  EXPECT_NE(node_proof(secret, {k_control_version, 2, o.number}, n), proof) << "as another node";
}

}  // namespace
}  // namespace shoal::launch
