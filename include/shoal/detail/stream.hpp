// SPDX-License-Identifier: Apache-2.0
// Where a worker writes its next command for a node: the open part of an aggregation buffer. Two pointers, so that the
// common case of an access is a comparison, the stores of the command, and an addition. The rest is
// src/aggregate/outbox.hpp. Who may call: the worker that owns it.
#pragma once

#include <cstdint>

namespace shoal::detail {

struct stream {
  std::uint64_t* cursor = nullptr;  // the next word
  std::uint64_t* limit = nullptr;   // of the buffer; equal to cursor when none is open
};

}  // namespace shoal::detail
