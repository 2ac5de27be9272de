// SPDX-License-Identifier: Apache-2.0
// Allocation by GMT's policies. Who may call: tasks; it switches. Throws shoal::error as arrays do.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "gmt/gmt.h"
#include "shoal/detail/array_layout.hpp"

namespace shoal::gmt {

/// `size`: elements of the global array, all copies included. `caller`: the node that counts as the allocating one.
/// `name`: for reports of memory.
detail::array_layout allocate(std::uint64_t size, std::uint32_t element_bytes, int type, std::uint32_t caller,
                              std::string_view name = {});

}  // namespace shoal::gmt
