// SPDX-License-Identifier: Apache-2.0
// Ends this process with a message if it is not destroyed in time. For the moment when a launcher's own means bring
// the processes together: MPI and PMIx wait without a limit for one that never comes.
// Who may call: the main thread, at start. Shown by tests/cluster/misfits_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "machine/executor.hpp"

namespace shoal::runtime {

class start_limit final : machine::activity {
public:
  start_limit(machine::executor& by, std::int64_t limit_ns);
  start_limit(const start_limit&) = delete;
  start_limit& operator=(const start_limit&) = delete;
  ~start_limit();

private:
  std::int64_t tick() noexcept override;

  machine::executor& executor_;
  const std::int64_t limit_ns_;
  const std::uint64_t begin_ns_;
  const std::unique_ptr<machine::activity_runner> runner_;
};

}  // namespace shoal::runtime
