// SPDX-License-Identifier: Apache-2.0
// What this library keeps for a window or file: a communicator of its processes, and for a window a lock word in each
// process. Windows of one communicator share these, because MPI libraries have few contexts (MPICH about 2000, and a
// window and a communicator use one each). Each has a slot: its lock word, and tags of its own for messages.
// Who may call: join_window(), join_file(), leave(): the owner of the lock, in a section of all processes of the
// communicator; so all choose the same slots. The rest: any thread. Test: tests/mpi (windows.c).
#pragma once

#include <mpi.h>

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "tools/mpi-threads/library/section.hpp"

namespace shoal::mpi_threads {

inline constexpr unsigned k_slots = 512;

// A page of its own, see create_words().
struct alignas(4096) lock_words {
  std::int64_t of_slot[k_slots] = {};
};

// Of one communicator. Only the owner of the lock, in a section, uses `used`.
struct sharing {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win words = MPI_WIN_NULL;        // lock_words of each process
  std::unique_ptr<lock_words> memory;  // of this process
  std::bitset<k_slots> used;           // none: `comm` and `words` are freed
};

struct companion {
  std::shared_ptr<sharing> with;
  unsigned slot = 0;
  std::mutex mutex;
  std::map<int, std::int64_t> held;  // by target: the value that MPI_Win_unlock subtracts from its word

  MPI_Comm comm() const { return with->comm; }
  int notice_tag() const { return static_cast<int>(2 * slot); }
  members meeting() const { return {with->comm, static_cast<int>(2 * slot + 1)}; }
};

int join_window(MPI_Comm comm, companion& c);
int join_file(MPI_Comm comm, companion& c);
// Gives the slot back; with the last one frees what was shared.
int leave(companion& c);

}  // namespace shoal::mpi_threads
