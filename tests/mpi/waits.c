// SPDX-License-Identifier: Apache-2.0
// Calls that wait for another process keep no other thread out of the library. For each: a thread of process 0 calls
// it, then another one sends itself a message through MPI, and only then process 1, which has stayed away from MPI, is
// let to do its part. A lock that is held during the call makes this hang. Two processes: waits FILE [NAME..]; FILE is
// made.
#include "tests/mpi/waits_calls.h"

// Both do `before`; process 0 calls `wait` in a thread, process 1 `answer` when it is let; both do `after`.
static const struct row {
  const char* name;
  void (*before)(void);
  void (*wait)(void);
  void (*answer)(void);
  void (*after)(void);
} k_rows[] = {
    {"Recv", nothing, receive, deliver, nothing},
    {"Send", nothing, send_large, receive_large, nothing},
    {"Ssend", nothing, send_synchronous, receive, nothing},
    {"Probe", nothing, probe, deliver, received_by_0},
    {"Mprobe", nothing, probe_matched, deliver, matched_by_0},
    {"Wait", post, wait_one, send_two, nothing},
    {"Waitall", post, wait_all, send_two, nothing},
    {"Waitany", post, wait_any, send_two, nothing},
    {"Waitsome", post, wait_some, send_two, nothing},
    {"Sendrecv", nothing, exchange, exchange, nothing},
    {"Sendrecv_replace", nothing, exchange_in_place, exchange_in_place, nothing},
    {"Barrier", nothing, barrier, barrier, nothing},
    {"Bcast", nothing, broadcast, broadcast, nothing},
    {"Allreduce", nothing, reduce_all, reduce_all, nothing},
    {"Reduce", nothing, reduce, reduce, nothing},
    {"Gather", nothing, gather, gather, nothing},
    {"Scatter", nothing, scatter, scatter, nothing},
    {"Allgather", nothing, gather_all, gather_all, nothing},
    {"Alltoall", nothing, all_to_all, all_to_all, nothing},
    {"Reduce_scatter_block", nothing, reduce_scatter, reduce_scatter, nothing},
    {"Scan", nothing, scan, scan, nothing},
    {"Comm_dup", nothing, duplicate, duplicate, free_made},
    {"Comm_split", nothing, split, split, free_made},
    {"Comm_split_type", nothing, split_type, split_type, free_made},
    {"Comm_create", all_of_it, create, create, free_group},
    {"Comm_create_group", all_of_it, create_of_group, create_of_group, free_group},
    {"Cart_create", nothing, grid, grid, free_made},
    {"Intercomm_create", nothing, bridge, bridge, free_bridge},
    {"Intercomm_merge", bridge, merge, merge, free_merged},
    {"Comm_disconnect", duplicate, disconnect, disconnect, nothing},
    {"Win_create", nothing, open_window, open_window, close_window},
    {"Win_allocate", nothing, allocate_window, allocate_window, free_window},
    {"Win_free", open_window, free_window, free_window, release_memory},
    {"Win_fence", open_window, fence, fence, close_window},
    {"Win_lock", open_and_lock, lock, unlock_own, close_window},
    {"Win_lock_all", open_and_lock, lock_all, unlock_own, close_window},
    {"Win_start", open_with_group, start, expose, close_with_group},
    {"Win_wait", open_and_expose, wait_exposed, start_back, close_with_group},
    {"File_open", nothing, open_file, open_file, close_file},
    {"File_close", open_file, close_file, close_file, nothing},
    {"File_set_size", open_file, resize, resize, close_file},
    {"File_seek_shared", open_file, seek_shared, seek_shared, close_file},
    {"File_set_view", open_file, view, view, close_file},
    {"File_set_atomicity", open_file, atomicity, atomicity, close_file},
    {"File_write_ordered", open_file, write_ordered, write_ordered, close_file},
    {"File_write_at_all", open_file, write_all, write_all, close_file},
    {"File_write_at_all_begin", open_file, write_split, write_split, close_file},
    {"Win_complete", open_and_start, complete, wait_exposed, close_with_group},
    {"Win_flush", open_and_put, flush, nothing, unlock_and_close},
    {"Win_flush_local", open_and_put, flush_local, nothing, unlock_and_close},
    {"Win_flush_all", open_and_put_all, flush_all, nothing, unlock_all_and_close},
    {"Win_flush_local_all", open_and_put_all, flush_local_all, nothing, unlock_all_and_close},
    {"Win_unlock", open_and_put, unlock, nothing, close_window},
    {"Win_unlock_all", open_and_put_all, unlock_all, nothing, close_window},
    {"Buffer_detach", send_buffered, detach, receive_large, nothing},
    {"Comm_accept", name_own_port, accept_it, connect_it, close_own_port},
    {"Comm_connect", name_port, connect_it, accept_it, close_port},
    {"Comm_spawn", nothing, spawn, nothing, disconnect_spawned},
    {"Comm_join", connect_sockets, join, join, disconnect_joined},
};

static void await_let(int number) {
  while (atomic_load(let) < number) usleep(1000);
}

static atomic_int in_call;
static void* wait_in_thread(void* row) {
  atomic_store(&in_call, 1);
  ((const struct row*)row)->wait();
  atomic_store(&in_call, 2);
  return NULL;
}

// True if the call was still waiting when the other thread was done.
static int run_first(const struct row* row) {
  pthread_t thread;
  MPI_Request own[2];
  int out = 5, in = 0;
  atomic_store(&in_call, 0);
  if (pthread_create(&thread, NULL, wait_in_thread, (void*)row) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  while (atomic_load(&in_call) == 0) usleep(1000);
  usleep(20000);
  MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &own[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &own[1]);
  MPI_Waitall(2, own, MPI_STATUSES_IGNORE);
  if (in != out) MPI_Abort(MPI_COMM_WORLD, 4);
  const int waited = atomic_load(&in_call) == 1;
  atomic_fetch_add(let, 1);
  pthread_join(thread, NULL);
  return waited;
}

static void map_file(int flags) {
  const int handle = open(path, flags, 0600);
  void* shared = MAP_FAILED;
  if (handle >= 0 && ftruncate(handle, 4096) == 0)
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  if (shared == MAP_FAILED) {
    perror(path);
    exit(3);
  }
  let = shared;
  close(handle);
}

static int be_spawned(int argc, char** argv) {
  int provided;
  path = argv[2];
  map_file(O_RDWR);
  await_let(atoi(argv[3]));
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  int provided = 0;
  program = argv[0];
  if (argc > 3 && strcmp(argv[1], "spawned") == 0) return be_spawned(argc, argv);
  if (argc < 2) return 2;
  path = argv[1];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  peer = 1 - rank;
  if (rank == 0) map_file(O_CREAT | O_TRUNC | O_RDWR);
  MPI_Barrier(comm);
  if (rank == 1) map_file(O_RDWR);
  buffer = calloc(k_large, 1), other = calloc(k_large, 1);
  int cases = 0;
  for (size_t i = 0; i < sizeof k_rows / sizeof *k_rows; ++i) {
    const struct row* row = &k_rows[i];
    int wanted = argc == 2;
    for (int word = 2; word < argc; ++word) wanted = wanted || strcmp(argv[word], row->name) == 0;
    if (!wanted) continue;
    row->before();
    MPI_Barrier(comm);
    if (rank == 0) {
      printf("%s ", row->name), fflush(stdout);
      printf("%s\n", run_first(row) ? "waited" : "returned"), fflush(stdout);
    } else {
      await_let(++cases);
      row->answer();
    }
    row->after();
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
  free(buffer), free(other), free(attached);
  if (rank == 0) unlink(path);
  MPI_Finalize();
  if (rank == 0) printf("finished\n");
  return 0;
}
