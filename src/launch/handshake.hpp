// SPDX-License-Identifier: Apache-2.0
// How a node and the hub prove to each other that they know the job's secret, without sending it: each sends a number
// that was never used before, and answers the other's number with an authenticator of both numbers, of its role, and of
// the node's number. The first messages of a connection, of fixed size: opening (node), challenge (hub), answer (node).
// Who may call: any thread. Never switches tasks.
// Guarantees: messages recorded on one connection are useless on another one and in the other direction. Not
// guaranteed: secrecy of later messages, or that they cannot be modified on the way. Tests:
// tests/unit/launch/handshake_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launch/siphash.hpp"

namespace shoal::launch {

using job_secret = siphash_key;
using nonce = std::array<std::byte, 16>;

/// 32 hexadecimal digits.
std::string secret_text(const job_secret& secret);
std::optional<job_secret> parse_secret(std::string_view text) noexcept;
/// From the system's random numbers; throws.
job_secret new_secret();
nonce new_nonce();

inline constexpr std::uint32_t k_control_version = 2;
inline constexpr std::size_t k_opening_bytes = 32;
inline constexpr std::size_t k_challenge_bytes = 40;
inline constexpr std::size_t k_answer_bytes = 8;

struct opening {
  std::uint32_t version = k_control_version;
  std::uint32_t node = 0;
  nonce number{};

  std::array<std::byte, k_opening_bytes> bytes() const;
  /// Nothing: not a node of any version.
  static std::optional<opening> parse(std::span<const std::byte> bytes);
};

struct challenge {
  std::uint32_t version = k_control_version;
  nonce number{};
  std::uint64_t proof = 0;

  std::array<std::byte, k_challenge_bytes> bytes() const;
  static std::optional<challenge> parse(std::span<const std::byte> bytes);
};

std::uint64_t hub_proof(const job_secret& secret, const opening& from_node, const nonce& of_hub);
std::uint64_t node_proof(const job_secret& secret, const opening& from_node, const nonce& of_hub);

std::array<std::byte, k_answer_bytes> answer_bytes(std::uint64_t proof);
std::uint64_t parse_answer(std::span<const std::byte> bytes);

}  // namespace shoal::launch
