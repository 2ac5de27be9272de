/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in partitions: ready one by one, in ranges and lists, by threads; several of one tag; different numbers of
   partitions on the two sides; with a datatype; wrong calls. */
#include <pthread.h>

#include "check.h"

enum { PARTITIONS = 8, EACH = 100, ALL = PARTITIONS * EACH };

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

static void fill(int* at, int from, int round) {
  for (int i = 0; i < ALL; ++i) at[i] = from * 1000000 + round * 10000 + i;
}
static int is_filled(const int* at, int from, int round) {
  for (int i = 0; i < ALL; ++i)
    if (at[i] != from * 1000000 + round * 10000 + i) return 0;
  return 1;
}

static void one_by_one(void) {
  static int out[ALL], in[ALL];
  MPI_Request s, r;
  MPI_Status st;
  int flag = 0, count = 0;
  MPI_Psend_init(out, PARTITIONS, EACH, MPI_INT, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
  MPI_Precv_init(in, PARTITIONS / 2, EACH * 2, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  for (int round = 0; round < 3; ++round) {
    const int order[] = {3, 0, 7};
    memset(in, 0, sizeof in);
    fill(out, rank_, round);
    MPI_Start(&r);
    MPI_Start(&s);
    MPI_Pready_range(1, 2, s);
    MPI_Pready_list(3, order, s);
    MPI_Pready(6, s);
    MPI_Test(&s, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0);
    CHECK(s != MPI_REQUEST_NULL);
    MPI_Pready_range(4, 5, s);
    for (int p = 0; p < PARTITIONS / 2; ++p)
      for (flag = 0; !flag;) MPI_Parrived(r, p, &flag);
    MPI_Wait(&r, &st);
    CHECK_EQUAL(st.MPI_SOURCE, left());
    CHECK_EQUAL(st.MPI_TAG, 5);
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK_EQUAL(count, ALL);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK(is_filled(in, left(), round));
    MPI_Parrived(r, 0, &flag); /* of one that is not active */
    CHECK_EQUAL(flag, 1);
  }
  MPI_Request_free(&s);
  MPI_Request_free(&r);
}

/* Three of one tag: they belong together in the order in which they were made, whatever the order of the starts is. */
static void several(void) {
  static int out[3][ALL], in[3][ALL];
  MPI_Request s[3], r[3];
  for (int i = 0; i < 3; ++i) {
    fill(out[i], rank_, i);
    MPI_Psend_init(out[i], PARTITIONS, EACH, MPI_INT, right(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]);
    MPI_Precv_init(in[i], PARTITIONS, EACH, MPI_INT, left(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
  }
  MPI_Startall(3, r);
  for (int i = 2; i >= 0; --i) {
    MPI_Start(&s[i]);
    MPI_Pready_range(0, PARTITIONS - 1, s[i]);
  }
  MPI_Waitall(3, s, MPI_STATUSES_IGNORE);
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) {
    CHECK(is_filled(in[i], left(), i));
    MPI_Request_free(&s[i]);
    MPI_Request_free(&r[i]);
  }
}

struct share {
  int first;
  int* out;
  MPI_Request* of;
};
static void* make_ready(void* raw) {
  const struct share* mine = raw;
  for (int p = mine->first; p < mine->first + PARTITIONS / 2; ++p) {
    for (int i = p * EACH; i < (p + 1) * EACH; ++i) mine->out[i] = rank_ * 1000000 + 70000 + i;
    MPI_Pready(p, *mine->of);
  }
  return NULL;
}

static void threads(void) {
  static int out[ALL], in[ALL];
  MPI_Request s, r;
  pthread_t thread;
  MPI_Psend_init(out, PARTITIONS, EACH, MPI_INT, right(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
  MPI_Precv_init(in, 1, ALL, MPI_INT, left(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  MPI_Start(&s);
  MPI_Start(&r);
  struct share lower = {0, out, &s}, upper = {PARTITIONS / 2, out, &s};
  pthread_create(&thread, NULL, make_ready, &upper);
  make_ready(&lower);
  pthread_join(thread, NULL);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK(is_filled(in, left(), 7));
  MPI_Request_free(&s);
  MPI_Request_free(&r);
}

/* Every second element; and beside ordinary messages with the same tag. */
static void with_datatype(void) {
  int out[16], in[16], ordinary = -1, mine = rank_;
  MPI_Datatype loose;
  MPI_Request s, r;
  MPI_Type_vector(4, 1, 2, MPI_INT, &loose);
  MPI_Type_create_resized(loose, 0, 8 * sizeof(int), &loose);
  MPI_Type_commit(&loose);
  for (int i = 0; i < 16; ++i) {
    out[i] = rank_ * 100 + i;
    in[i] = -1;
  }
  MPI_Psend_init(out, 2, 1, loose, right(), 8, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
  MPI_Precv_init(in, 2, 1, loose, left(), 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  MPI_Start(&s);
  MPI_Pready(0, s);
  MPI_Sendrecv(&mine, 1, MPI_INT, right(), 8, &ordinary, 1, MPI_INT, left(), MPI_ANY_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK_EQUAL(ordinary, left());
  MPI_Pready(1, s);
  MPI_Start(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  for (int i = 0; i < 16; ++i) CHECK_EQUAL(in[i], i % 2 == 0 ? left() * 100 + i : -1);
  MPI_Request_free(&s);
  MPI_Request_free(&r);
  MPI_Type_free(&loose);
}

static void nobody(void) {
  MPI_Request s, r;
  int v = 1, flag = 0;
  MPI_Status st;
  MPI_Psend_init(&v, 1, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
  MPI_Precv_init(&v, 1, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  MPI_Start(&s);
  MPI_Start(&r);
  MPI_Pready(0, s);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  MPI_Wait(&r, &st);
  CHECK_EQUAL(st.MPI_SOURCE, MPI_PROC_NULL);
  MPI_Parrived(r, 0, &flag);
  CHECK(flag);
  MPI_Request_free(&s);
  MPI_Request_free(&r);
}

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void wrong(void) {
  int v[4] = {0, 0, 0, 0}, flag;
  MPI_Request s, r, plain;
  if (is_mpich()) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQUAL(class_of(MPI_Psend_init(v, -1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &s)), MPI_ERR_ARG);
  CHECK_EQUAL(class_of(MPI_Psend_init(v, 2, -1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &s)), MPI_ERR_COUNT);
  CHECK_EQUAL(class_of(MPI_Precv_init(v, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r)),
              MPI_ERR_RANK);
  CHECK_EQUAL(class_of(MPI_Precv_init(v, 2, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &r)),
              MPI_ERR_TAG);
  MPI_Psend_init(v, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &s);
  MPI_Precv_init(v + 2, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
  CHECK_EQUAL(class_of(MPI_Pready(0, s)), MPI_ERR_REQUEST); /* not started */
  MPI_Send_init(v, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain);
  CHECK_EQUAL(class_of(MPI_Pready(0, plain)), MPI_ERR_REQUEST);
  CHECK_EQUAL(class_of(MPI_Parrived(s, 0, &flag)), MPI_ERR_REQUEST);
  MPI_Start(&s);
  MPI_Start(&r);
  CHECK_EQUAL(class_of(MPI_Pready(2, s)), MPI_ERR_ARG);
  CHECK_EQUAL(class_of(MPI_Pready(1, s)), MPI_SUCCESS);
  CHECK_EQUAL(class_of(MPI_Pready(1, s)), MPI_ERR_ARG); /* twice */
  CHECK_EQUAL(class_of(MPI_Parrived(r, 5, &flag)), MPI_ERR_ARG);
  MPI_Pready(0, s);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Request_free(&s);
  MPI_Request_free(&r);
  MPI_Request_free(&plain);
}

int main(int argc, char** argv) {
  const int provided = begin_with_threads(&argc, &argv);
  one_by_one();
  several();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  with_datatype();
  nobody();
  wrong();
  return end();
}
