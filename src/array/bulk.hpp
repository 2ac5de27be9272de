// SPDX-License-Identifier: Apache-2.0
// What the two files of bulk access share. Who may call: tasks; may switch tasks when buffers are full.
// Shown by tests/cluster/array_test.cpp.
#pragma once

#include <cstdint>

#include "shoal/detail/array_layout.hpp"

namespace shoal::array {

/// In checked builds: ends the program if the array was freed or does not have [i, i + count).
void check_range(const detail::array_layout& layout, std::uint64_t i, std::uint64_t count) noexcept;

/// As detail::bulk_put, from memory that others may write meanwhile: elements of up to 8 bytes are read whole.
void bulk_put_shared(const detail::array_layout& layout, std::uint64_t i, const void* values, std::uint64_t count,
                     unsigned unit);

}  // namespace shoal::array
