// SPDX-License-Identifier: Apache-2.0
// The calls of waits.c: what a thread of process 0 waits in, what process 1 does for it, and what comes before and
// after.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { k_large = 1 << 20 };
static int rank, peer;
static const char *path, *program;
static atomic_int* let;  // in FILE, seen by both processes: how many cases were let go on
static char *buffer, *other, *attached;
static long* memory;
static MPI_Comm comm, made, between;
static MPI_Win win;
static MPI_File file;
static MPI_Group group;
static MPI_Message message;
static MPI_Request request[2];
static char port[MPI_MAX_PORT_NAME];
static int link_of_two;

static void nothing(void) {}
static void free_made(void) { MPI_Comm_free(&made); }

// ---- messages
static void receive(void) { MPI_Recv(buffer, 8, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE); }
static void deliver(void) { MPI_Send(buffer, 8, MPI_BYTE, peer, 1, comm); }
static void send_large(void) { MPI_Send(buffer, k_large, MPI_BYTE, peer, 1, comm); }
static void receive_large(void) { MPI_Recv(buffer, k_large, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE); }
static void send_synchronous(void) { MPI_Ssend(buffer, 8, MPI_BYTE, peer, 1, comm); }
static void probe(void) { MPI_Probe(peer, 1, comm, MPI_STATUS_IGNORE); }
static void probe_matched(void) { MPI_Mprobe(peer, 1, comm, &message, MPI_STATUS_IGNORE); }
static void received_by_0(void) {
  if (rank == 0) receive();
}
static void matched_by_0(void) {
  if (rank == 0) MPI_Mrecv(buffer, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}
static void post(void) {
  for (int i = 0; i < 2 && rank == 0; ++i) MPI_Irecv(buffer + 8 * i, 8, MPI_BYTE, peer, 1, comm, &request[i]);
}
static void wait_one(void) { MPI_Wait(&request[0], MPI_STATUS_IGNORE), MPI_Wait(&request[1], MPI_STATUS_IGNORE); }
static void wait_all(void) { MPI_Waitall(2, request, MPI_STATUSES_IGNORE); }
static void wait_any(void) {
  int index;
  for (int i = 0; i < 2; ++i) MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
}
static void wait_some(void) {
  int indices[2], count, sum = 0;
  for (; sum < 2; sum += count) MPI_Waitsome(2, request, &count, indices, MPI_STATUSES_IGNORE);
}
static void send_two(void) { deliver(), deliver(); }
static void exchange(void) {
  MPI_Sendrecv(buffer, 8, MPI_BYTE, peer, 1, other, 8, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
}
static void exchange_in_place(void) {
  MPI_Sendrecv_replace(buffer, 8, MPI_BYTE, peer, 1, peer, 1, comm, MPI_STATUS_IGNORE);
}
static void send_buffered(void) {
  if (rank != 0) return;
  attached = malloc(k_large + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(attached, k_large + MPI_BSEND_OVERHEAD);
  MPI_Bsend(buffer, k_large, MPI_BYTE, peer, 1, comm);
}
static void detach(void) {
  void* was;
  int bytes;
  MPI_Buffer_detach(&was, &bytes);
}

// ---- collective
static void barrier(void) { MPI_Barrier(comm); }
static void broadcast(void) { MPI_Bcast(buffer, 8, MPI_BYTE, 1, comm); }
static void reduce_all(void) { MPI_Allreduce(buffer, other, 1, MPI_LONG, MPI_SUM, comm); }
static void reduce(void) { MPI_Reduce(buffer, other, 1, MPI_LONG, MPI_SUM, 0, comm); }
static void gather(void) { MPI_Gather(buffer, 8, MPI_BYTE, other, 8, MPI_BYTE, 0, comm); }
static void scatter(void) { MPI_Scatter(buffer, 8, MPI_BYTE, other, 8, MPI_BYTE, 1, comm); }
static void gather_all(void) { MPI_Allgather(buffer, 8, MPI_BYTE, other, 8, MPI_BYTE, comm); }
static void all_to_all(void) { MPI_Alltoall(buffer, 8, MPI_BYTE, other, 8, MPI_BYTE, comm); }
static void reduce_scatter(void) { MPI_Reduce_scatter_block(buffer, other, 1, MPI_LONG, MPI_SUM, comm); }
static void scan(void) { MPI_Scan(buffer, other, 1, MPI_LONG, MPI_SUM, comm); }

// ---- constructors
static void duplicate(void) { MPI_Comm_dup(comm, &made); }
static void split(void) { MPI_Comm_split(comm, 0, 0, &made); }
static void split_type(void) { MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made); }
static void all_of_it(void) { MPI_Comm_group(comm, &group); }
static void create(void) { MPI_Comm_create(comm, group, &made); }
static void create_of_group(void) { MPI_Comm_create_group(comm, group, 3, &made); }
static void free_group(void) { free_made(), MPI_Group_free(&group); }
static void grid(void) {
  const int dims[1] = {2}, periods[1] = {0};
  MPI_Cart_create(comm, 1, dims, periods, 0, &made);
}
static void bridge(void) { MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, peer, 4, &between); }
static void free_bridge(void) { MPI_Comm_free(&between); }
static void merge(void) { MPI_Intercomm_merge(between, rank, &made); }
static void free_merged(void) { free_made(), free_bridge(); }
static void disconnect(void) { MPI_Comm_disconnect(&made); }

// ---- one-sided
static void open_window(void) {
  memory = calloc(k_large, 1);
  MPI_Win_create(memory, k_large, 1, MPI_INFO_NULL, comm, &win);
}
static void allocate_window(void) { MPI_Win_allocate(k_large, 1, MPI_INFO_NULL, comm, &memory, &win); }
static void free_window(void) { MPI_Win_free(&win); }
static void close_window(void) { free_window(), free(memory); }
static void release_memory(void) { free(memory); }
static void fence(void) { MPI_Win_fence(0, win); }
static void open_and_lock(void) {
  open_window();
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Barrier(comm);
}
static void lock(void) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), MPI_Win_unlock(1, win); }
static void lock_all(void) { MPI_Win_lock_all(0, win), MPI_Win_unlock_all(win); }
static void unlock_own(void) { MPI_Win_unlock(1, win); }
static void put(void) { MPI_Put(buffer, k_large, MPI_BYTE, 1, 0, k_large, MPI_BYTE, win); }
static void open_and_put(void) {
  open_window();
  if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), put();
}
static void open_and_put_all(void) {
  open_window();
  if (rank == 0) MPI_Win_lock_all(0, win), put();
}
static void flush(void) { MPI_Win_flush(1, win); }
static void flush_local(void) { MPI_Win_flush_local(1, win); }
static void flush_all(void) { MPI_Win_flush_all(win); }
static void flush_local_all(void) { MPI_Win_flush_local_all(win); }
static void unlock(void) { MPI_Win_unlock(1, win); }
static void unlock_all(void) { MPI_Win_unlock_all(win); }
static void unlock_and_close(void) {
  if (rank == 0) unlock();
  close_window();
}
static void unlock_all_and_close(void) {
  if (rank == 0) unlock_all();
  close_window();
}
static void open_with_group(void) {
  MPI_Group all;
  open_window();
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, 1, &peer, &group);
  MPI_Group_free(&all);
}
static void close_with_group(void) { close_window(), MPI_Group_free(&group); }
static void start(void) { MPI_Win_start(group, 0, win), put(), MPI_Win_complete(win); }
static void expose(void) { MPI_Win_post(group, 0, win), MPI_Win_wait(win); }
static void open_and_expose(void) {
  open_with_group();
  if (rank == 0) MPI_Win_post(group, 0, win);
}
static void wait_exposed(void) { MPI_Win_wait(win); }
static void start_back(void) { MPI_Win_start(group, 0, win), MPI_Win_complete(win); }
static void open_and_start(void) {
  open_with_group();
  if (rank == 1) MPI_Win_post(group, 0, win);
  if (rank == 0) MPI_Win_start(group, 0, win), put();
}
static void complete(void) { MPI_Win_complete(win); }

// ---- files
static void open_file(void) {
  char name[4096];
  snprintf(name, sizeof name, "%s.data", path);
  MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
}
static void close_file(void) { MPI_File_close(&file); }
static void resize(void) { MPI_File_set_size(file, 4096); }
static void seek_shared(void) { MPI_File_seek_shared(file, 16, MPI_SEEK_SET); }
static void view(void) { MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); }
static void atomicity(void) { MPI_File_set_atomicity(file, 0); }
static void write_ordered(void) { MPI_File_write_ordered(file, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE); }
static void write_all(void) { MPI_File_write_at_all(file, 8 * rank, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE); }
static void write_split(void) {
  MPI_File_write_at_all_begin(file, 8 * rank, buffer, 8, MPI_BYTE);
  MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
}

// ---- processes that meet
static void name_port(void) {
  if (rank == 1) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 1, comm);
}
static void name_own_port(void) {
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, comm);
}
static void accept_it(void) { MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made); }
static void connect_it(void) { MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made); }
static void close_port(void) {
  disconnect();
  if (rank == 1) MPI_Close_port(port);
}
static void close_own_port(void) {
  disconnect();
  if (rank == 0) MPI_Close_port(port);
}
static void spawn(void) {
  char number[16], *words[] = {"spawned", (char*)path, number, NULL};
  snprintf(number, sizeof number, "%d", atomic_load(let) + 1);
  MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made, MPI_ERRCODES_IGNORE);
}
static void disconnect_spawned(void) {
  if (rank == 0) disconnect();
}
static void connect_sockets(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof at;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (rank == 0) {
    if (bind(listener, (struct sockaddr*)&at, length) != 0 || listen(listener, 1) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
    getsockname(listener, (struct sockaddr*)&at, &length);
  }
  MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, comm);
  if (rank == 1) {
    link_of_two = listener;
    if (connect(link_of_two, (struct sockaddr*)&at, length) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
    return;
  }
  link_of_two = accept(listener, NULL, NULL);
  close(listener);
}
static void join(void) { MPI_Comm_join(link_of_two, &made); }
static void disconnect_joined(void) {
  if (made != MPI_COMM_NULL) disconnect();
  close(link_of_two);
}
