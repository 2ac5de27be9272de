// SPDX-License-Identifier: Apache-2.0
// What calls return that are wrong, with MPI_ERRORS_RETURN, and what an error handler of the program's own is told: a
// line for each, the same with a lock in front of the library as without; likewise what is received from MPI_PROC_NULL.
// One process.
#include <mpi.h>
#include <stdio.h>

static int handled;

static void count_errors(MPI_Comm* comm, int* code, ...) {
  int error_class = 0;
  (void)comm;
  MPI_Error_class(*code, &error_class);
  handled = handled * 1000 + error_class;
}

static void tell(const char* call, int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  printf("%s %d\n", call, error_class);
}

static void truncate_one(MPI_Request requests[2], char* in, char* out) {
  MPI_Irecv(in, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(out, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[1]);
}

static void wrong_messages(MPI_Comm comm) {
  char in[16] = {0}, out[16] = {0};
  MPI_Message message;
  MPI_Request request;
  tell("Send, rank", MPI_Send(out, 1, MPI_BYTE, 1000, 0, comm));
  tell("Send, tag", MPI_Send(out, 1, MPI_BYTE, 0, -5, comm));
  tell("Send, count", MPI_Send(out, -1, MPI_BYTE, 0, 0, comm));
  tell("Send, type", MPI_Send(out, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  tell("Send, buffer", MPI_Send(NULL, 1, MPI_BYTE, 0, 0, comm));
  tell("Ssend, rank", MPI_Ssend(out, 1, MPI_BYTE, 1000, 0, comm));
  tell("Isend, rank", MPI_Isend(out, 1, MPI_BYTE, 1000, 0, comm, &request));
  tell("Recv, rank", MPI_Recv(in, 1, MPI_BYTE, 1000, 0, comm, MPI_STATUS_IGNORE));
  tell("Recv, count", MPI_Recv(in, -1, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
  tell("Probe, rank", MPI_Probe(1000, 0, comm, MPI_STATUS_IGNORE));
  tell("Mprobe, rank", MPI_Mprobe(1000, 0, comm, &message, MPI_STATUS_IGNORE));
  tell("Sendrecv, rank", MPI_Sendrecv(out, 1, MPI_BYTE, 1000, 0, in, 1, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
  tell("Sendrecv_replace, tag", MPI_Sendrecv_replace(out, 1, MPI_BYTE, 0, -5, 0, 0, comm, MPI_STATUS_IGNORE));
}

static void wrong_collectives(MPI_Comm comm) {
  int in = 0, out = 1;
  MPI_Comm made;
  MPI_Win win;
  tell("Bcast, root", MPI_Bcast(&out, 1, MPI_INT, 7, comm));
  tell("Bcast, count", MPI_Bcast(&out, -1, MPI_INT, 0, comm));
  tell("Reduce, operation", MPI_Reduce(&out, &in, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  tell("Allreduce, type", MPI_Allreduce(&out, &in, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  tell("Gather, root", MPI_Gather(&out, 1, MPI_INT, &in, 1, MPI_INT, -3, comm));
  tell("Comm_split, color", MPI_Comm_split(comm, -7, 0, &made));
  tell("Cart_create, dimensions", MPI_Cart_create(comm, -1, NULL, NULL, 0, &made));
  tell("Win_create, size", MPI_Win_create(&out, -4, 1, MPI_INFO_NULL, comm, &win));
}

static void truncated(void) {
  char in[16] = {0}, out[16] = {0};
  MPI_Request requests[2];
  MPI_Status status[2];
  int flag = 0, index = 0;
  MPI_Isend(out, 8, MPI_BYTE, 0, 2, MPI_COMM_SELF, &requests[0]);
  tell("Recv, truncated", MPI_Recv(in, 1, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  tell("Wait", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  truncate_one(requests, in, out);
  tell("Wait, truncated", MPI_Wait(&requests[0], &status[0]));
  tell("Wait", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  truncate_one(requests, in, out);
  tell("Waitall, truncated", MPI_Waitall(2, requests, status));
  tell("Waitall, first status", status[0].MPI_ERROR);
  truncate_one(requests, in, out);
  for (int done = 0; done < 2; ++done) {
    const int code = MPI_Waitany(2, requests, &index, &status[0]);
    if (index == 0) tell("Waitany, truncated", code);
  }
  truncate_one(requests, in, out);
  int code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS) code = MPI_Test(&requests[0], &flag, &status[0]);
  tell("Test, truncated", code);
  tell("Wait", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
}

static void tell_source(const char* call, MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  printf("%s: source %d, tag %d, count %d\n", call, status->MPI_SOURCE, status->MPI_TAG, count);
  status->MPI_SOURCE = status->MPI_TAG = 55;
}

static void from_nobody(MPI_Comm comm) {
  char in[16] = {0}, out[16] = {0};
  const int null = MPI_PROC_NULL;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  MPI_Recv(in, 16, MPI_BYTE, null, 3, comm, &status);
  tell_source("Recv, nobody", &status);
  MPI_Sendrecv(out, 1, MPI_BYTE, null, 3, in, 1, MPI_BYTE, null, 3, comm, &status);
  tell_source("Sendrecv, nobody", &status);
  MPI_Sendrecv_replace(in, 1, MPI_BYTE, null, 3, null, 3, comm, &status);
  tell_source("Sendrecv_replace, nobody", &status);
  request = MPI_REQUEST_NULL;
  MPI_Wait(&request, &status);
  tell_source("Wait, no request", &status);
  MPI_Probe(null, 3, comm, &status);
  tell_source("Probe, nobody", &status);
  MPI_Mprobe(null, 3, comm, &message, &status);
  MPI_Mrecv(in, 16, MPI_BYTE, &message, &status);
  tell_source("Mrecv, nobody", &status);
}

// The receive of an exchange whose send is wrong must not stay: it would take what is meant for the next one.
static void half_exchanges(void) {
  char in = 7, out = 42, next = 0;
  int flag = 0;
  tell("Sendrecv, rank",
       MPI_Sendrecv(&out, 1, MPI_BYTE, 1000, 5, &in, 1, MPI_BYTE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  tell("Sendrecv_replace, rank",
       MPI_Sendrecv_replace(&in, 1, MPI_BYTE, 1000, 5, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  MPI_Request request;
  MPI_Irecv(&next, 1, MPI_BYTE, 0, 5, MPI_COMM_SELF, &request);
  MPI_Send(&out, 1, MPI_BYTE, 0, 5, MPI_COMM_SELF);
  for (int i = 0; i < 100000 && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  printf("after a wrong exchange: arrived %d, %d, and %d is left\n", flag, next, in);
  if (!flag) MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  wrong_messages(comm);
  wrong_collectives(comm);
  truncated();
  from_nobody(comm);
  half_exchanges();
  tell("Send, communicator", MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_NULL));
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Send(NULL, 0, MPI_BYTE, 1000, 0, comm);
  MPI_Bcast(NULL, 0, MPI_BYTE, 7, comm);
  printf("the handler was told %d\n", handled);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
