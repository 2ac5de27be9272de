// SPDX-License-Identifier: Apache-2.0
// What is kept beside each window and file: a communicator of its processes, for the meetings of section.hpp and the
// notices of MPI_Win_post; and for a window a word per process, the lock that MPI_Win_lock takes with one-sided
// operations, polled, so that no thread waits inside the library for another process's MPI_Win_unlock. The library's
// own lock is then always taken as a shared one, which nobody withholds.
// Who may call: the wrappers. MPI_Win_unlock, MPI_Win_flush and MPI_Win_complete wait under the lock, for nothing but
// the progress of the target's library.
// Shown by tests/mpi (sections.c).
#pragma once

#include <functional>

#include "tools/mpi-threads/library/section.hpp"

namespace shoal::mpi_threads {

int make_window(int call, MPI_Comm comm, MPI_Win* win, const std::function<int()>& work);
int make_file(int call, MPI_Comm comm, MPI_File* file, const std::function<int()>& work);
int section_on(int call, MPI_Win win, const std::function<int()>& work);
int section_on(int call, MPI_File file, const std::function<int()>& work);

}  // namespace shoal::mpi_threads
