// SPDX-License-Identifier: Apache-2.0
// Seconds since construction; on a simulated machine, virtual ones. Who may call: any thread.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace shoal::kernels::bfs {

class stopwatch {
public:
  double seconds() const noexcept { return static_cast<double>(base::now_ns() - started_ns_) * 1e-9; }

private:
  std::uint64_t started_ns_ = base::now_ns();
};

}  // namespace shoal::kernels::bfs
