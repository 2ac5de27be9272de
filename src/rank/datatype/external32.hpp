// SPDX-License-Identifier: Apache-2.0
// The representation external32: the most significant byte first, long in 4 bytes, wchar_t in 2, long double as an IEEE
// number of 128 bits, whatever the machine has (MPI 5.0, 14.5.2).
// Who may call: any thread. Complexity: O(elements). Test: tests/conformance/types.inc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rank/datatype/datatype.hpp"

namespace shoal::rank {

/// Bytes of an element of that type in external32.
std::uint64_t external_size(const datatype& t) noexcept;
/// `count` elements, packed one behind the other in this machine's representation. Throws mpi_error
/// (MPI_ERR_CONVERSION): a value that external32 has no room for.
void to_external(const std::byte* from, std::int64_t count, const datatype& t, std::byte* to);
void from_external(const std::byte* from, std::int64_t count, const datatype& t, std::byte* to);

}  // namespace shoal::rank
