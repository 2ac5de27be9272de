// SPDX-License-Identifier: Apache-2.0
// All members gather the blocks of all; a part of other collective operations.
#pragma once

#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {

/// all_gather() where block p belongs to member (p + first) mod n. Steps from `step` on belong to it: at most 64.
void gather_among(link& to, std::uint32_t first, block_bounds bounds, std::span<std::byte> all, std::uint32_t step);

}  // namespace shoal::collectives
