// SPDX-License-Identifier: Apache-2.0
// The end of an object that workers of all nodes withhold operations for: what they have begun is complete before it goes.
// Who may call: tasks; the destructor switches. Shown by tests/cluster/counter_test.cpp, tests/cluster/combined_test.cpp.
#pragma once

#include <cstdint>
#include <utility>

#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/place.hpp"

namespace shoal::detail {

/// Waits, when it is destroyed, for all that the workers of all nodes have begun.
class settled_end {
public:
  settled_end() = default;
  settled_end(settled_end&& other) noexcept : owns_(std::exchange(other.owns_, false)) {}
  settled_end& operator=(settled_end&& other) noexcept {
    if (this == &other) return *this;
    settle();
    owns_ = std::exchange(other.owns_, false);
    return *this;
  }
  ~settled_end() { settle(); }

private:
  void settle() noexcept {
    if (!owns_) return;
    try {
      parallel_for(everywhere, node_count(), [](std::uint64_t) { settle_workers(); });
    } catch (const error&) {
      // A node is lost, and the job ends.
    }
  }

  bool owns_ = true;
};

}  // namespace shoal::detail
