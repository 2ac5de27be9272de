/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two ranks: modes, order, wildcards, probes, truncation, cancelling, buffers. */
#include "check.h"

enum { LARGE = 1 << 20 };

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

static void fill(char* at, int n, int seed) {
  for (int i = 0; i < n; ++i) at[i] = (char)(seed * 31 + i * 7);
}
static int is_filled(const char* at, int n, int seed) {
  for (int i = 0; i < n; ++i)
    if (at[i] != (char)(seed * 31 + i * 7)) return 0;
  return 1;
}

/* Around a ring, in every mode and size. */
static void modes(void) {
  static const int sizes[] = {0, 1, 100, 4096, 4097, 9000, 70000, LARGE};
  char* out = malloc(LARGE);
  char* in = malloc(LARGE);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int n = sizes[s];
    for (int mode = 0; mode < 4; ++mode) {
      MPI_Request r[2];
      MPI_Status st;
      int count;
      fill(out, n, rank_ + mode);
      memset(in, 0, (size_t)n);
      MPI_Irecv(in, n, MPI_CHAR, left(), mode, MPI_COMM_WORLD, &r[0]);
      if (mode == 2) MPI_Barrier(MPI_COMM_WORLD); /* a ready send needs its receive */
      if (mode == 0) MPI_Isend(out, n, MPI_CHAR, right(), mode, MPI_COMM_WORLD, &r[1]);
      if (mode == 1) MPI_Issend(out, n, MPI_CHAR, right(), mode, MPI_COMM_WORLD, &r[1]);
      if (mode == 2) MPI_Irsend(out, n, MPI_CHAR, right(), mode, MPI_COMM_WORLD, &r[1]);
      if (mode == 3) {
        void* room = malloc((size_t)n + MPI_BSEND_OVERHEAD);
        void* back;
        int bytes;
        MPI_Buffer_attach(room, n + MPI_BSEND_OVERHEAD);
        MPI_Bsend(out, n, MPI_CHAR, right(), mode, MPI_COMM_WORLD);
        memset(out, 1, (size_t)n); /* it has been copied */
        MPI_Buffer_detach(&back, &bytes);
        CHECK(back == room);
        CHECK_EQUAL(bytes, n + MPI_BSEND_OVERHEAD);
        free(room);
        r[1] = MPI_REQUEST_NULL;
      }
      MPI_Wait(&r[0], &st);
      MPI_Wait(&r[1], MPI_STATUS_IGNORE);
      CHECK(r[0] == MPI_REQUEST_NULL);
      CHECK_EQUAL(st.MPI_SOURCE, left());
      CHECK_EQUAL(st.MPI_TAG, mode);
      MPI_Get_count(&st, MPI_CHAR, &count);
      CHECK_EQUAL(count, n);
      CHECK(is_filled(in, n, left() + mode));
    }
  }
  free(out);
  free(in);
}

/* Blocking sends that come before and after their receives. */
static void blocking(void) {
  enum { N = 50000 };
  static char data[N];
  if (size_ < 2) return;
  for (int round = 0; round < 4; ++round) {
    const int n = round % 2 == 0 ? 64 : N;
    if (rank_ % 2 == 0 && rank_ + 1 < size_) {
      fill(data, n, rank_ + round);
      if (round < 2)
        MPI_Send(data, n, MPI_CHAR, rank_ + 1, round, MPI_COMM_WORLD);
      else
        MPI_Ssend(data, n, MPI_CHAR, rank_ + 1, round, MPI_COMM_WORLD);
      MPI_Recv(data, n, MPI_CHAR, rank_ + 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(is_filled(data, n, rank_ + 1 + round));
    } else if (rank_ % 2 == 1) {
      MPI_Recv(data, n, MPI_CHAR, rank_ - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(is_filled(data, n, rank_ - 1 + round));
      fill(data, n, rank_ + round);
      MPI_Send(data, n, MPI_CHAR, rank_ - 1, round, MPI_COMM_WORLD);
    }
  }
}

/* All send to rank 0: messages of one sender and tag arrive in their order. */
static void order(void) {
  enum { EACH = 200 };
  if (rank_ != 0) {
    for (int i = 0; i < EACH; ++i) {
      int value[2] = {rank_, i};
      MPI_Send(value, 2, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
    }
  } else {
    int* next = calloc((size_t)size_ * 3, sizeof(int));
    for (int i = 0; i < EACH * (size_ - 1); ++i) {
      int value[2];
      MPI_Status st;
      MPI_Recv(value, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
      CHECK_EQUAL(st.MPI_SOURCE, value[0]);
      CHECK_EQUAL(st.MPI_TAG, value[1] % 3);
      CHECK_EQUAL(value[1] / 3, next[st.MPI_SOURCE * 3 + st.MPI_TAG]++);
    }
    free(next);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void probes(void) {
  int value = rank_ * 3;
  MPI_Request r;
  MPI_Status st;
  MPI_Message m;
  int flag = 0, count, got = -1;
  MPI_Isend(&value, 1, MPI_INT, right(), 11, MPI_COMM_WORLD, &r);
  MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &st);
  MPI_Get_count(&st, MPI_INT, &count);
  CHECK_EQUAL(st.MPI_SOURCE, left());
  CHECK_EQUAL(count, 1);
  while (!flag) MPI_Iprobe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
  MPI_Mprobe(left(), 11, MPI_COMM_WORLD, &m, &st);
  MPI_Iprobe(left(), 11, MPI_COMM_WORLD, &flag, &st);
  CHECK_EQUAL(flag, 0); /* the matched message is no longer there */
  MPI_Mrecv(&got, 1, MPI_INT, &m, &st);
  CHECK(m == MPI_MESSAGE_NULL);
  CHECK_EQUAL(got, left() * 3);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Improbe(left(), 11, MPI_COMM_WORLD, &flag, &m, &st);
  CHECK_EQUAL(flag, 0);
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &st);
  CHECK(m == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(&got, 1, MPI_INT, &m, &st);
  CHECK_EQUAL(st.MPI_SOURCE, MPI_PROC_NULL);
}

static void exchanges(void) {
  int out = rank_, in = -1, both = rank_ * 2;
  MPI_Request r;
  MPI_Status st;
  MPI_Sendrecv(&out, 1, MPI_INT, right(), 5, &in, 1, MPI_INT, left(), 5, MPI_COMM_WORLD, &st);
  CHECK_EQUAL(in, left());
  MPI_Sendrecv_replace(&both, 1, MPI_INT, right(), 6, left(), 6, MPI_COMM_WORLD, &st);
  CHECK_EQUAL(both, left() * 2);
  MPI_Isendrecv(&out, 1, MPI_INT, left(), 7, &in, 1, MPI_INT, right(), 7, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, &st);
  CHECK_EQUAL(in, right());
  CHECK_UNLESS_MPICH(st.MPI_SOURCE == right());
  MPI_Isendrecv_replace(&both, 1, MPI_INT, left(), 8, right(), 8, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, &st);
  CHECK_EQUAL(both, rank_ * 2);
  MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 5, &in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &st);
  CHECK_EQUAL(st.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(st.MPI_TAG, MPI_ANY_TAG);
}

static void errors_and_cancelling(void) {
  int out[4] = {1, 2, 3, 4}, in[2] = {0, 0}, flag, code, class;
  MPI_Request r, s;
  MPI_Status st;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(in, 2, MPI_INT, left(), 9, MPI_COMM_WORLD, &r);
  MPI_Isend(out, 4, MPI_INT, right(), 9, MPI_COMM_WORLD, &s);
  code = MPI_Wait(&r, &st);
  MPI_Error_class(code, &class);
  CHECK_EQUAL(class, MPI_ERR_TRUNCATE);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  CHECK_EQUAL(MPI_Send(out, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
  CHECK_EQUAL(MPI_Send(out, 1, MPI_INT, size_, 0, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
  CHECK_EQUAL(MPI_Send(out, 1, MPI_INT, 0, -7, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
  CHECK_EQUAL(MPI_Send(out, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Irecv(in, 2, MPI_INT, left(), 10, MPI_COMM_WORLD, &r);
  MPI_Cancel(&r);
  MPI_Wait(&r, &st);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 1);
}

static void to_oneself(void) {
  int out = 42, in = 0;
  MPI_Request r;
  MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r);
  MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK_EQUAL(in, 42);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  modes();
  blocking();
  order();
  probes();
  exchanges();
  errors_and_cancelling();
  to_oneself();
  return end();
}
