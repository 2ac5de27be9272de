// SPDX-License-Identifier: Apache-2.0
// Counts dangling requests: complete, but not yet freed by their owner. Enabled by a setting, and sampled, because each
// test costs time. Persistent requests do not count: completion does not change their handle, and
// MPI_Request_get_status does not distinguish inactive from complete.
// Who may call: the owner of the lock. Test: tests/mpi/mpi_threads_test.py.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::mpi_threads {

class dangling_requests {
public:
  void add(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) outstanding_.push_back(request);
  }
  void remove(MPI_Request request) {
    for (std::size_t i = outstanding_.size(); i-- > 0;) {
      if (outstanding_[i] != request) continue;
      outstanding_[i] = outstanding_.back();
      outstanding_.pop_back();
      return;
    }
  }
  /// Called at each acquisition; samples every 64th.
  void sample() {
    if (++acquisitions_ % 64 != 0) return;
    std::uint64_t complete = 0;
    for (const MPI_Request request : outstanding_) {
      int flag = 0;
      if (PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0) ++complete;
    }
    ++samples_;
    complete_ += complete;
    seen_ += outstanding_.size();
    most_ = complete > most_ ? complete : most_;
  }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t most() const { return most_; }
  double average() const { return samples_ == 0 ? 0 : static_cast<double>(complete_) / static_cast<double>(samples_); }
  double outstanding() const { return samples_ == 0 ? 0 : static_cast<double>(seen_) / static_cast<double>(samples_); }

private:
  std::vector<MPI_Request> outstanding_;
  std::uint64_t acquisitions_ = 0, samples_ = 0, complete_ = 0, seen_ = 0, most_ = 0;
};

}  // namespace shoal::mpi_threads
