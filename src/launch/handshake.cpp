// SPDX-License-Identifier: Apache-2.0
#include "launch/handshake.hpp"

#include <algorithm>
#include <vector>

#include "launch/byte_stream.hpp"
#include "machine/entropy.hpp"

namespace shoal::launch {
namespace {

constexpr std::uint64_t k_node_mark = 0x65646f6e6c616873;  // "shalnode"
constexpr std::uint64_t k_hub_mark = 0x6275682d6c616873;   // "shal-hub"
constexpr std::string_view k_digits = "0123456789abcdef";

template <std::size_t Size>
std::array<std::byte, Size> fixed(const std::vector<std::byte>& bytes) {
  std::array<std::byte, Size> result{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), Size), result.begin());
  return result;
}

nonce get_nonce(byte_reader& in) {
  nonce n{};
  std::ranges::copy(in.take(n.size()), n.begin());
  return n;
}

std::uint64_t proof(const job_secret& secret, std::uint64_t role, const opening& from_node, const nonce& of_hub) {
  std::vector<std::byte> message;
  byte_writer out(message);
  out.number(role);
  out.bytes(from_node.bytes());
  out.bytes(of_hub);
  return siphash(secret, message);
}

}  // namespace

std::string secret_text(const job_secret& secret) {
  std::string text;
  for (const std::byte b : secret) {
    text.push_back(k_digits[std::to_integer<unsigned>(b) >> 4]);
    text.push_back(k_digits[std::to_integer<unsigned>(b) & 15]);
  }
  return text;
}

std::optional<job_secret> parse_secret(std::string_view text) noexcept {
  job_secret secret{};
  if (text.size() != secret.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = k_digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    secret[i / 2] = secret[i / 2] << 4 | static_cast<std::byte>(digit);
  }
  return secret;
}

job_secret new_secret() {
  job_secret secret{};
  machine::fill_random(secret);
  return secret;
}

nonce new_nonce() { return new_secret(); }

std::array<std::byte, k_opening_bytes> opening::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(k_node_mark);
  out.number(version);
  out.number(node);
  out.bytes(number);
  return fixed<k_opening_bytes>(result);
}

std::optional<opening> opening::parse(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (in.number<std::uint64_t>() != k_node_mark) return std::nullopt;
  opening o;
  o.version = in.number<std::uint32_t>();
  o.node = in.number<std::uint32_t>();
  o.number = get_nonce(in);
  return in.complete() ? std::optional(o) : std::nullopt;
}

std::array<std::byte, k_challenge_bytes> challenge::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(k_hub_mark);
  out.number(version);
  out.number(std::uint32_t{0});
  out.bytes(number);
  out.number(proof);
  return fixed<k_challenge_bytes>(result);
}

std::optional<challenge> challenge::parse(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (in.number<std::uint64_t>() != k_hub_mark) return std::nullopt;
  challenge c;
  c.version = in.number<std::uint32_t>();
  in.number<std::uint32_t>();
  c.number = get_nonce(in);
  c.proof = in.number<std::uint64_t>();
  return in.complete() ? std::optional(c) : std::nullopt;
}

std::uint64_t hub_proof(const job_secret& secret, const opening& from_node, const nonce& of_hub) {
  return proof(secret, k_hub_mark, from_node, of_hub);
}

std::uint64_t node_proof(const job_secret& secret, const opening& from_node, const nonce& of_hub) {
  return proof(secret, k_node_mark, from_node, of_hub);
}

std::array<std::byte, k_answer_bytes> answer_bytes(std::uint64_t proof) {
  std::vector<std::byte> result;
  byte_writer(result).number(proof);
  return fixed<k_answer_bytes>(result);
}

std::uint64_t parse_answer(std::span<const std::byte> bytes) { return byte_reader(bytes).number<std::uint64_t>(); }

}  // namespace shoal::launch
