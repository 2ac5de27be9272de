// SPDX-License-Identifier: Apache-2.0
// The locks of a node under which large elements are updated (shoal/detail/array_update.hpp).
// Who may call: element_lock. Never switches tasks: a lock is held for one call of a function.
// Shown by tests/cluster/array_update_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "shoal/locks/tas.hpp"

namespace shoal::array {

struct element_locks {
  static constexpr std::uint64_t k_count = 64;
  struct alignas(64) stripe {
    tas_lock<> lock;
    std::atomic<const void*> holder{nullptr};  // a thread. Partner: element_lock, which asks whether it is itself
  };
  std::array<stripe, k_count> stripes;
};

}  // namespace shoal::array
