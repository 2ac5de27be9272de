// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/library/companion.hpp"

namespace shoal::mpi_threads {
namespace {

// MPICH 4.0 over UCX takes for the start of a window the address that UCX returns for the registered memory. UCX rounds
// it down, to 16 bytes at least, for the memory of MPI_Win_allocate to the memory of the first process of the machine.
// There MPI_Rget_accumulate changes other memory than it should, and not atomically. A page of our own needs no rounding.
// In Open MPI the memory of MPI_Win_allocate is right, and 20 times as fast.
int create_words(sharing& s, lock_words** words) {
  constexpr int k_unit = sizeof(std::int64_t);
#ifdef OPEN_MPI
  return PMPI_Win_allocate(sizeof **words, k_unit, MPI_INFO_NULL, s.comm, static_cast<void*>(words), &s.words);
#else
  s.memory = std::make_unique<lock_words>();
  *words = s.memory.get();
  return PMPI_Win_create(*words, sizeof **words, k_unit, MPI_INFO_NULL, s.comm, &s.words);
#endif
}

int make_words(sharing& s) {
  lock_words* words = nullptr;
  int code = create_words(s, &words);
  if (code != MPI_SUCCESS) return code;
  PMPI_Win_set_errhandler(s.words, MPI_ERRORS_RETURN);  // errors are reported on the user's window
  code = PMPI_Win_lock_all(MPI_MODE_NOCHECK, s.words);
  if (code != MPI_SUCCESS) return code;
  *words = lock_words{};
  PMPI_Win_sync(s.words);
  return PMPI_Barrier(s.comm);
}

// The attribute that stores what the windows of a communicator share.
int forget(MPI_Comm, int, void* value, void*) {
  delete static_cast<std::shared_ptr<sharing>*>(value);
  return MPI_SUCCESS;
}
int sharing_keyval() {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(copy_none, forget, &keyval, nullptr);
  return keyval;
}

// A slot of what the communicator's windows share already.
bool join_others(MPI_Comm comm, companion& c) {
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, sharing_keyval(), static_cast<void*>(&value), &found);
  if (found == 0) return false;
  c.with = *static_cast<std::shared_ptr<sharing>*>(value);
  if (c.with->used.none() || c.with->used.all()) return false;
  while (c.with->used.test(c.slot)) ++c.slot;
  c.with->used.set(c.slot);
  return true;
}

}  // namespace

int join_window(MPI_Comm comm, companion& c) {
  if (join_others(comm, c)) return MPI_SUCCESS;
  c.with = std::make_shared<sharing>();
  int code = PMPI_Comm_dup(comm, &c.with->comm);
  if (code == MPI_SUCCESS) code = make_words(*c.with);
  if (code == MPI_SUCCESS) {
    auto value = std::make_unique<std::shared_ptr<sharing>>(c.with);
    code = PMPI_Comm_set_attr(comm, sharing_keyval(), value.get());
    if (code == MPI_SUCCESS) static_cast<void>(value.release());  // now the attribute's
  }
  if (code == MPI_SUCCESS) {
    c.with->used.set(c.slot);
    return code;
  }
  if (c.with->words != MPI_WIN_NULL) PMPI_Win_free(&c.with->words);
  if (c.with->comm != MPI_COMM_NULL) PMPI_Comm_free(&c.with->comm);
  return code;
}

int join_file(MPI_Comm comm, companion& c) {
  c.with = std::make_shared<sharing>();
  const int code = PMPI_Comm_dup(comm, &c.with->comm);
  if (code == MPI_SUCCESS) c.with->used.set(c.slot);
  return code;
}

int leave(companion& c) {
  sharing& s = *c.with;
  s.used.reset(c.slot);
  if (s.used.any()) return MPI_SUCCESS;
  if (s.words != MPI_WIN_NULL) {
    int code = PMPI_Win_unlock_all(s.words);
    if (code == MPI_SUCCESS) code = PMPI_Win_free(&s.words);
    if (code != MPI_SUCCESS) return code;
  }
  return PMPI_Comm_free(&s.comm);
}

}  // namespace shoal::mpi_threads
