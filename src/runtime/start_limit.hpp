// SPDX-License-Identifier: Apache-2.0
// Ends this process with a sentence if it is not destroyed in time. For the moment when a launcher's own means bring
// the processes together: MPI and PMIx wait without a limit for one that never comes.
// Who may call: the main thread, at start. Shown by tests/cluster/misfits_test.cpp.
#pragma once

#include <cstdint>
#include <thread>

#include "machine/process.hpp"

namespace shoal::runtime {

class start_limit {
public:
  explicit start_limit(std::int64_t limit_ns);
  ~start_limit();
  start_limit(const start_limit&) = delete;
  start_limit& operator=(const start_limit&) = delete;

private:
  machine::wake_descriptor met_;
  std::thread thread_;
};

}  // namespace shoal::runtime
