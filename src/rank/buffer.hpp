// SPDX-License-Identifier: Apache-2.0
// Elements in a program's memory, as a call of MPI names them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi-abi/mpi.h"
#include "rank/datatype/datatype.hpp"

namespace shoal::rank {

struct buffer {
  void* at = nullptr;
  MPI_Count count = 0;
  const datatype* type = nullptr;  // nullptr: `count` bytes

  std::uint64_t bytes() const noexcept {
    return static_cast<std::uint64_t>(count) * (type == nullptr ? 1 : type->size());
  }
};

/// Where the bytes of `b` lie one behind the other; nullptr if they do not.
std::byte* solid_bytes(const buffer& b) noexcept;
/// Copies the elements of `from` to those of `to`, as far as these reach; returns how many bytes.
std::uint64_t copy(const buffer& from, const buffer& to);
/// The same from and to packed bytes, from byte `offset` of the elements on.
void pack(const buffer& from, std::uint64_t offset, std::byte* to, std::uint64_t bytes);
void unpack(const std::byte* from, std::uint64_t bytes, const buffer& to, std::uint64_t offset);

}  // namespace shoal::rank
