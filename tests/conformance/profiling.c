/* SPDX-License-Identifier: Apache-2.0 */
/* A program that defines functions of MPI itself and calls those of the library by their second names. */
#include "check.h"

static int sends, receives, barriers, sums, inits;

int MPI_Init(int* argc, char*** argv) {
  ++inits;
  return PMPI_Init(argc, argv);
}
int MPI_Send(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(at, count, type, to, tag, comm);
}
int MPI_Recv(void* at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* st) {
  ++receives;
  return PMPI_Recv(at, count, type, from, tag, comm, st);
}
int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++sums;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int main(int argc, char** argv) {
  int got = -1, v;
  MPI_Request r;
  MPI_Comm copy;
  begin(&argc, &argv);
  CHECK_EQUAL(inits, 1);
  v = rank_ * 2;
  PMPI_Irecv(&got, 1, MPI_INT, (rank_ + size_ - 1) % size_, 1, MPI_COMM_WORLD, &r);
  MPI_Send(&v, 1, MPI_INT, (rank_ + 1) % size_, 1, MPI_COMM_WORLD);
  PMPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, (rank_ + size_ - 1) % size_ * 2);
  CHECK_EQUAL(sends, 1);
  MPI_Isend(&v, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r);
  MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK(receives == 1 && got == v);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
  MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
  /* The library's own messages are not seen. */
  CHECK(sends == 1 && receives == 1 && barriers == 1 && sums == 0);
  MPI_Pcontrol(0);
  MPI_Pcontrol(1);
  MPI_Pcontrol(2, "more", 3);
  return end();
}
