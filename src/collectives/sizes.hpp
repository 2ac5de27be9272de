// SPDX-License-Identifier: Apache-2.0
// From which sizes on another algorithm is faster. Chosen by counting bytes and messages per member; k_long_block_bytes
// by measurements between two nodes of one machine, by messages. The exact values matter little.
#pragma once

#include <cstddef>

namespace shoal::collectives {

/// Vectors from here on are divided among the members, so that each byte is combined or sent on once.
inline constexpr std::size_t k_long_vector_bytes = 16384;
/// Blocks from here on go from their member straight to the receiver.
inline constexpr std::size_t k_long_block_bytes = 4096;
/// Blocks up to here are exchanged in O(log n) messages, of n / 2 blocks each.
inline constexpr std::size_t k_short_block_bytes = 256;
/// How many members a member receives from at the same time.
inline constexpr unsigned k_receives_at_once = 8;

}  // namespace shoal::collectives
