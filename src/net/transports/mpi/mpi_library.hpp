// SPDX-License-Identifier: Apache-2.0
// The MPI library of this process. A process has only one, for any number of networks, so this is process-wide state.
// Its level is MPI_THREAD_SERIALIZED: a thread that calls MPI holds lock().
// Who may call: any thread; started() and communicator() are collective over the processes of the job and may block.
// Guarantees: initialises MPI unless the program has; if it has initialised MPI, it finalises it at the exit of the
// process. Tags are unique within the process. Throws shoal::error. Tests: tests/unit/net/plugin_test.cpp.
#pragma once

#include <mpi.h>

#include <mutex>
#include <string>
#include <vector>

namespace shoal::net {

class mpi_library {
public:
  static mpi_library& started();

  std::mutex& lock() noexcept { return lock_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  /// One of Shoal's own, so that the program's messages are not met: the n-th.
  MPI_Comm communicator(unsigned number);
  /// The first of `count` tags that are unused in this process.
  int take_tags(int count);
  /// "Open MPI v4.1.4".
  std::string describe();

private:
  mpi_library();
  std::mutex lock_;
  int rank_ = 0, size_ = 1;
  int next_tag_ = 0, last_tag_ = 32767;
  std::vector<MPI_Comm> communicators_;
};

/// MPI's text for an error code.
std::string mpi_reason(int code);
/// Throws if it is not MPI_SUCCESS: "MPI could not <what>: <its reason>".
void check_mpi(int code, const char* what);

}  // namespace shoal::net
