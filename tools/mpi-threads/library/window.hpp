// SPDX-License-Identifier: Apache-2.0
// Calls on windows and files, with what companion.hpp keeps for each of them: a communicator for section.hpp and for the
// notices of MPI_Win_post; and for a window one lock word per process. MPI_Win_lock acquires that word by polling with one-sided
// operations, so no thread waits inside the library for the MPI_Win_unlock of another process. The library's own lock
// is then always acquired as a shared lock, which never blocks.
// Who may call: the wrappers. MPI_Win_unlock, MPI_Win_flush and MPI_Win_complete wait while they hold our lock, but
// only for progress of the target's library. Test: tests/mpi (sections.c).
#pragma once

#include <functional>

#include "tools/mpi-threads/library/section.hpp"

namespace shoal::mpi_threads {

int make_window(int call, MPI_Comm comm, MPI_Win* win, const std::function<int()>& work);
int make_file(int call, MPI_Comm comm, MPI_File* file, const std::function<int()>& work);
int section_on(int call, MPI_Win win, const std::function<int()>& work);
int section_on(int call, MPI_File file, const std::function<int()>& work);

}  // namespace shoal::mpi_threads
