// SPDX-License-Identifier: Apache-2.0
// Memory for elements of a datatype, laid out as in a program's buffer, for operations that combine them.
#pragma once

#include <cstddef>
#include <memory>

#include "rank/buffer.hpp"

namespace shoal::rank {

class typed_memory {
public:
  typed_memory(MPI_Count count, const datatype& type) {
    const std::int64_t bytes = count == 0 ? 0 : (count - 1) * type.extent() + type.true_extent();
    room_ = std::make_unique<std::max_align_t[]>(static_cast<std::size_t>(bytes) / sizeof(std::max_align_t) + 1);
    at_ = {reinterpret_cast<std::byte*>(room_.get()) - type.true_lower(), count, &type};
  }
  const buffer& elements() const noexcept { return at_; }
  void swap(typed_memory& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(at_, other.at_);
  }

private:
  std::unique_ptr<std::max_align_t[]> room_;
  buffer at_;
};

}  // namespace shoal::rank
