// SPDX-License-Identifier: Apache-2.0
// Seconds since construction. Who may call: any thread.
#pragma once

#include <chrono>

namespace shoal::kernels::bfs {

class stopwatch {
public:
  double seconds() const noexcept { return std::chrono::duration<double>(clock::now() - started_).count(); }

private:
  using clock = std::chrono::steady_clock;
  clock::time_point started_ = clock::now();
};

}  // namespace shoal::kernels::bfs
