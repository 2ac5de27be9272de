// SPDX-License-Identifier: Apache-2.0
// From a plan for an array's distribution to its layout. Who may call: tasks; does not switch.
// Errors: shoal::error (invalid_argument) that says what does not fit. Shown by tests/unit/array/plan_test.cpp.
#pragma once

#include <cstdint>

#include "shoal/distribution.hpp"

namespace shoal::array {

/// The plan with its weights turned into bounds. Throws if it does not fit an array of `size` on `nodes` nodes.
distribution_plan resolved(distribution_plan plan, std::uint64_t size, std::uint32_t nodes);

/// Of a resolved plan; an array of no elements has the layout of one element. `here`: the node that allocates.
detail::array_layout layout_of(const distribution_plan& plan, std::uint64_t size, std::size_t element_bytes,
                               std::uint32_t here, std::uint32_t nodes);

}  // namespace shoal::array
