// SPDX-License-Identifier: Apache-2.0
// The blocks of members in a buffer.
#pragma once

#include <cstring>
#include <span>

#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {

template <class Byte>
std::span<Byte> block(std::span<Byte> of, block_bounds bounds, std::uint64_t r) noexcept {
  return of.subspan(bounds[r], bounds[r + 1] - bounds[r]);
}

/// `to` has at least as many bytes.
inline void copy(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace shoal::collectives
