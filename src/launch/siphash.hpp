// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4: a short authenticator of a message under a key of 128 bits. Who may call: any thread. Never switches
// tasks. Guarantees: without the key nobody can find the value for a message that has not been seen with it; the same
// on all machines. Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012.
// Shown by tests/unit/launch/siphash_test.cpp (the values of the paper).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::launch {

using siphash_key = std::array<std::byte, 16>;

std::uint64_t siphash(const siphash_key& key, std::span<const std::byte> message) noexcept;

}  // namespace shoal::launch
