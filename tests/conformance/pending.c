/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators that are freed while operations in them are pending: these complete, errors go where they went before. */
#include "check.h"

static MPI_Comm returning_duplicate(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/* A message that is too long arrives after its communicator has been freed. */
static void begin_too_long(MPI_Request* both, char* received, const char* sent) {
  MPI_Comm in = returning_duplicate();
  MPI_Irecv(received, 10, MPI_CHAR, (rank_ + size_ - 1) % size_, 1, in, &both[0]);
  MPI_Isend(sent, 50, MPI_CHAR, (rank_ + 1) % size_, 1, in, &both[1]);
  MPI_Comm_free(&in);
  CHECK(in == MPI_COMM_NULL);
}

static void check_class(int error, int expected) {
  int error_class = 0;
  MPI_Error_class(error, &error_class);
  CHECK_EQUAL(error_class, expected);
}

static void errors_after_the_end(void) {
  char received[50] = {0}, sent[50] = {0};
  MPI_Request both[2];
  MPI_Status statuses[2];
  begin_too_long(both, received, sent);
  check_class(MPI_Wait(&both[0], statuses), MPI_ERR_TRUNCATE);
  MPI_Wait(&both[1], MPI_STATUS_IGNORE);

  begin_too_long(both, received, sent);
  check_class(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
  check_class(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);

  begin_too_long(both, received, sent);
  int done = 0, index, failed = 0;
  while (done < 2) {
    const int error = MPI_Waitany(2, both, &index, statuses);
    failed += error != MPI_SUCCESS;
    ++done;
  }
  CHECK_EQUAL(failed, 1);

  begin_too_long(both, received, sent);
  int indices[2], n = 0;
  for (done = failed = 0; done < 2; done += n) failed += MPI_Waitsome(2, both, &n, indices, statuses) != MPI_SUCCESS;
  CHECK_EQUAL(failed, 1);

  begin_too_long(both, received, sent);
  int flag = 0, error = MPI_SUCCESS;
  while (!flag) error = MPI_Test(&both[0], &flag, statuses);
  check_class(error, MPI_ERR_TRUNCATE);
  MPI_Wait(&both[1], MPI_STATUS_IGNORE);
}

/* A message that a probe has taken belongs to an operation that is pending. */
static void probed(void) {
  for (int bytes = 8; bytes <= 20000; bytes *= 50) {
    MPI_Comm in = returning_duplicate();
    char* sent = calloc(1, (size_t)bytes);
    char* received = malloc((size_t)bytes);
    sent[bytes - 1] = (char)rank_;
    MPI_Request sending;
    MPI_Message message;
    MPI_Status status;
    const int from = (rank_ + size_ - 1) % size_;
    MPI_Isend(sent, bytes, MPI_CHAR, (rank_ + 1) % size_, 3, in, &sending);
    MPI_Mprobe(from, 3, in, &message, &status);
    MPI_Comm_free(&in);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm others[4]; /* where the memory of the first may be used again */
    for (int i = 0; i < 4; ++i) MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
    CHECK_EQUAL(MPI_Mrecv(received, bytes, MPI_CHAR, &message, &status), MPI_SUCCESS);
    CHECK_EQUAL(status.MPI_SOURCE, from);
    CHECK_EQUAL(received[bytes - 1], (char)from);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) MPI_Comm_free(&others[i]);
    free(sent);
    free(received);
  }
}

/* Persistent collective operations keep a communicator from call to call. */
static void persistent(void) {
  MPI_Comm in = returning_duplicate();
  MPI_Request operation;
  int mine = 0, sum = 0;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, in, MPI_INFO_NULL, &operation);
  MPI_Start(&operation);
  MPI_Comm_free(&in);
  for (int i = 0; i < 5; ++i) {
    MPI_Wait(&operation, MPI_STATUS_IGNORE);
    CHECK_EQUAL(sum, size_ * i);
    mine = i + 1;
    MPI_Start(&operation);
  }
  MPI_Wait(&operation, MPI_STATUS_IGNORE);
  MPI_Request_free(&operation);
}

/* Communicators of random members, each with operations of its own. */
static void many(void) {
  unsigned state = 1;
  for (int round = 0; round < 20; ++round) {
    state = state * 1664525u + 1013904223u;
    const int colors = 1 + (int)(state >> 20) % 4;
    MPI_Comm part, copy;
    MPI_Comm_split(MPI_COMM_WORLD, (int)((unsigned)rank_ * 2654435761u >> 16) % colors, (rank_ * 37 + round) % 11,
                   &part);
    MPI_Request making, sums[6];
    MPI_Comm_idup(part, &copy, &making);
    int ones[6], results[6], members;
    for (int i = 0; i < 6; ++i) {
      ones[i] = i;
      MPI_Iallreduce(&ones[i], &results[i], 1, MPI_INT, MPI_SUM, part, &sums[i]);
    }
    MPI_Wait(&making, MPI_STATUS_IGNORE);
    MPI_Comm_size(part, &members);
    MPI_Comm_free(&part);
    int one = 1, counted = 0;
    MPI_Allreduce(&one, &counted, 1, MPI_INT, MPI_SUM, copy);
    CHECK_EQUAL(counted, members);
    MPI_Comm_free(&copy);
    MPI_Waitall(6, sums, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; ++i) CHECK_EQUAL(results[i], i * members);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  errors_after_the_end();
  probed();
  persistent();
  many();
  return end();
}
