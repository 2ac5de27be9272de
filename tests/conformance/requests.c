/* SPDX-License-Identifier: Apache-2.0 */
/* Waits and tests of one, any, some and all requests; cancelling; freeing; status fields; generalized requests. */
#include "check.h"

enum { N = 6 };
static int out_[N], in_[N];

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

/* N receives, then N sends, of which some take a while. */
static void begin_all(MPI_Request* in, MPI_Request* out) {
  for (int i = 0; i < N; ++i) {
    out_[i] = rank_ * 100 + i;
    in_[i] = -1;
    MPI_Irecv(&in_[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &in[i]);
  }
  for (int i = 0; i < N; ++i) MPI_Issend(&out_[i], 1, MPI_INT, right(), i, MPI_COMM_WORLD, &out[i]);
}
static void check_one(int i, const MPI_Status* st) {
  int count = -1;
  CHECK_EQUAL(in_[i], left() * 100 + i);
  CHECK_EQUAL(st->MPI_SOURCE, left());
  CHECK_EQUAL(st->MPI_TAG, i);
  MPI_Get_count(st, MPI_INT, &count);
  CHECK_EQUAL(count, 1);
}
static int is_empty(const MPI_Status* st) {
  int count = -1, cancelled = -1;
  MPI_Get_count(st, MPI_INT, &count);
  MPI_Test_cancelled(st, &cancelled);
  return st->MPI_SOURCE == MPI_ANY_SOURCE && st->MPI_TAG == MPI_ANY_TAG && count == 0 && cancelled == 0;
}

static void one(void) {
  MPI_Request in[N], out[N];
  MPI_Status st;
  int flag;
  begin_all(in, out);
  for (int i = N - 1; i >= 0; --i) {
    flag = 0;
    while (!flag) MPI_Request_get_status(in[i], &flag, &st);
    check_one(i, &st);
    CHECK(in[i] != MPI_REQUEST_NULL);
    MPI_Request_get_status(in[i], &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 1);
    flag = 0;
    while (!flag) MPI_Test(&in[i], &flag, &st);
    check_one(i, &st);
    CHECK(in[i] == MPI_REQUEST_NULL);
    MPI_Wait(&out[i], MPI_STATUS_IGNORE);
  }
  MPI_Wait(&in[0], &st);
  CHECK(is_empty(&st));
  MPI_Test(&in[0], &flag, &st);
  CHECK(flag && is_empty(&st));
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &st);
  CHECK(flag && is_empty(&st));
}

static void any(void) {
  MPI_Request in[N], out[N];
  MPI_Status st;
  int flag = 0, at = -1, seen = 0;
  begin_all(in, out);
  for (int i = 0; i < N; ++i) {
    if (i % 2 == 0) {
      MPI_Waitany(N, in, &at, &st);
    } else {
      for (flag = 0; !flag;) MPI_Testany(N, in, &at, &flag, &st);
    }
    CHECK(at >= 0 && at < N && (seen >> at & 1) == 0);
    seen |= 1 << at;
    check_one(at, &st);
    CHECK(in[at] == MPI_REQUEST_NULL);
  }
  MPI_Waitany(N, in, &at, &st);
  CHECK(at == MPI_UNDEFINED && is_empty(&st));
  MPI_Testany(N, in, &at, &flag, &st);
  CHECK(flag && at == MPI_UNDEFINED && is_empty(&st));
  MPI_Waitany(0, NULL, &at, &st);
  CHECK_EQUAL(at, MPI_UNDEFINED);
  MPI_Waitall(N, out, MPI_STATUSES_IGNORE);
}

static void some(void) {
  MPI_Request in[N], out[N];
  MPI_Status st[N];
  int count, done = 0, at[N];
  begin_all(in, out);
  for (int turn = 0; done < N; ++turn) {
    if (turn % 2 == 0)
      MPI_Waitsome(N, in, &count, at, st);
    else
      MPI_Testsome(N, in, &count, at, st);
    CHECK(turn % 2 != 0 || count == MPI_UNDEFINED || count > 0);
    for (int i = 0; i < count; ++i) {
      check_one(at[i], &st[i]);
      CHECK(in[at[i]] == MPI_REQUEST_NULL);
    }
    if (count == MPI_UNDEFINED) break;
    done += count;
  }
  CHECK_EQUAL(done, N);
  MPI_Waitsome(N, in, &count, at, st);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Testsome(N, in, &count, at, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Waitall(N, out, MPI_STATUSES_IGNORE);
}

static void all(void) {
  MPI_Request in[N], out[N];
  MPI_Status st[N];
  int flag = 0;
  begin_all(in, out);
  while (!flag) MPI_Testall(N, in, &flag, st);
  for (int i = 0; i < N; ++i) {
    check_one(i, &st[i]);
    CHECK(in[i] == MPI_REQUEST_NULL);
  }
  MPI_Testall(N, in, &flag, st);
  CHECK(flag && is_empty(&st[N - 1]));
  MPI_Waitall(N, in, st);
  CHECK(is_empty(&st[0]));
  MPI_Waitall(N, out, MPI_STATUSES_IGNORE);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(flag, 1);
}

/* Those that show and do not end. */
static void shown(void) {
  MPI_Request in[N], out[N];
  MPI_Status st[N], one;
  int flag = 0, at = -1, count = 0, places[N];
  begin_all(in, out);
  while (!flag) MPI_Request_get_status_any(N, in, &at, &flag, &one);
  CHECK(at >= 0 && at < N);
  check_one(at, &one);
  while (count == 0) MPI_Request_get_status_some(N, in, &count, places, st);
  CHECK(count >= 1 && count <= N);
  for (int i = 0; i < count; ++i) check_one(places[i], &st[i]);
  flag = 0;
  while (!flag) MPI_Request_get_status_all(N, in, &flag, st);
  for (int i = 0; i < N; ++i) {
    check_one(i, &st[i]);
    CHECK(in[i] != MPI_REQUEST_NULL);
  }
  MPI_Waitall(N, in, MPI_STATUSES_IGNORE);
  MPI_Waitall(N, out, MPI_STATUSES_IGNORE);
  MPI_Request_get_status_any(N, in, &at, &flag, &one);
  CHECK(flag && at == MPI_UNDEFINED && is_empty(&one));
  MPI_Request_get_status_some(N, in, &count, places, st);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Request_get_status_all(N, in, &flag, st);
  CHECK(flag && is_empty(&st[1]));
}

/* Persistent requests that have not been started count as none. */
static void inactive(void) {
  MPI_Request r[2];
  MPI_Status st;
  int flag = 0, at = 0, v = rank_, got = -1;
  MPI_Recv_init(&got, 1, MPI_INT, left(), 3, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(&v, 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &r[1]);
  MPI_Wait(&r[0], &st);
  CHECK(is_empty(&st) && r[0] != MPI_REQUEST_NULL);
  MPI_Test(&r[0], &flag, &st);
  CHECK(flag && is_empty(&st));
  MPI_Waitany(2, r, &at, &st);
  CHECK(at == MPI_UNDEFINED && is_empty(&st));
  MPI_Request_get_status(r[0], &flag, &st);
  CHECK(flag && is_empty(&st));
  for (int round = 0; round < 4; ++round) {
    v = rank_ + round;
    MPI_Startall(2, r);
    if (round % 2 == 0) {
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitany(2, r, &at, &st);
      MPI_Waitany(2, r, &at, &st);
    }
    CHECK_EQUAL(got, left() + round);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

static void cancelled(void) {
  int v = -1, flag = -1, out = rank_;
  MPI_Request r[2];
  MPI_Status st;
  MPI_Irecv(&v, 1, MPI_INT, left(), 77, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &st);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(v, -1);
  /* The order of those before and behind it stays. */
  MPI_Irecv(&v, 1, MPI_INT, left(), 78, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(&v, 1, MPI_INT, left(), 78, MPI_COMM_WORLD, &r[1]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &st);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&out, 1, MPI_INT, right(), 78, MPI_COMM_WORLD);
  MPI_Wait(&r[1], &st);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(v, left());
  /* A persistent one can be started again. */
  MPI_Recv_init(&v, 1, MPI_INT, left(), 79, MPI_COMM_WORLD, &r[0]);
  MPI_Start(&r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &st);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD); /* nothing comes before it is cancelled */
  MPI_Start(&r[0]);
  MPI_Isend(&out, 1, MPI_INT, right(), 79, MPI_COMM_WORLD, &r[1]);
  MPI_Wait(&r[0], &st);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&r[0]);
}

/* Freed while it is on its way: it ends by itself. */
static void freed(void) {
  static int out, in;
  int token = 0;
  MPI_Request r;
  out = rank_ + 5;
  in = -1;
  MPI_Irecv(&in, 1, MPI_INT, left(), 80, MPI_COMM_WORLD, &r);
  MPI_Request_free(&r);
  CHECK(r == MPI_REQUEST_NULL);
  MPI_Isend(&out, 1, MPI_INT, right(), 80, MPI_COMM_WORLD, &r);
  MPI_Request_free(&r);
  MPI_Sendrecv(&rank_, 1, MPI_INT, right(), 81, &token, 1, MPI_INT, left(), 81, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(in, left() + 5);
}

static void status_fields(void) {
  MPI_Status st;
  int v = 0, flag = 0;
  MPI_Count large = 0;
  memset(&st, 0, sizeof st);
  MPI_Status_set_source(&st, 3);
  MPI_Status_set_tag(&st, 4);
  MPI_Status_set_error(&st, MPI_ERR_OTHER);
  CHECK(st.MPI_SOURCE == 3 && st.MPI_TAG == 4 && st.MPI_ERROR == MPI_ERR_OTHER);
  MPI_Status_get_source(&st, &v);
  CHECK_EQUAL(v, 3);
  MPI_Status_get_tag(&st, &v);
  CHECK_EQUAL(v, 4);
  MPI_Status_get_error(&st, &v);
  CHECK_EQUAL(v, MPI_ERR_OTHER);
  MPI_Status_set_elements(&st, MPI_DOUBLE, 7);
  MPI_Get_count(&st, MPI_DOUBLE, &v);
  CHECK_EQUAL(v, 7);
  MPI_Get_elements(&st, MPI_DOUBLE, &v);
  CHECK_EQUAL(v, 7);
  MPI_Status_set_elements_c(&st, MPI_CHAR, (MPI_Count)1 << 34);
  MPI_Get_elements_c(&st, MPI_CHAR, &large);
  CHECK_EQUAL(large, (MPI_Count)1 << 34);
  MPI_Get_count(&st, MPI_CHAR, &v);
  CHECK_EQUAL(v, MPI_UNDEFINED); /* an int cannot hold it */
  MPI_Status_set_elements_x(&st, MPI_SHORT, (MPI_Count)1 << 33);
  MPI_Get_elements_x(&st, MPI_SHORT, &large);
  CHECK_EQUAL(large, (MPI_Count)1 << 33);
  MPI_Status_set_cancelled(&st, 1);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Status_set_cancelled(&st, 0);
  MPI_Test_cancelled(&st, &flag);
  CHECK_EQUAL(flag, 0);
}

/* Elements and counts of a message that ends within a value of the type. */
static void partial_counts(void) {
  MPI_Datatype pair, types[2] = {MPI_INT, MPI_DOUBLE};
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {0, 8};
  MPI_Status st;
  char room[64];
  int v = 5, n = -1;
  MPI_Type_create_struct(2, lengths, places, types, &pair);
  MPI_Type_commit(&pair);
  MPI_Sendrecv(&v, 1, MPI_INT, right(), 1, room, 2, pair, left(), 1, MPI_COMM_WORLD, &st);
  MPI_Get_count(&st, pair, &n);
  CHECK_EQUAL(n, MPI_UNDEFINED);
  MPI_Get_elements(&st, pair, &n);
  CHECK_EQUAL(n, 1);
  MPI_Type_free(&pair);
}

struct state {
  int queried, freed, cancelled, complete_when_cancelled;
};
static int query(void* extra, MPI_Status* st) {
  ++((struct state*)extra)->queried;
  MPI_Status_set_elements(st, MPI_INT, 9);
  MPI_Status_set_cancelled(st, 0);
  st->MPI_SOURCE = 21;
  st->MPI_TAG = 22;
  return MPI_SUCCESS;
}
static int release(void* extra) {
  ++((struct state*)extra)->freed;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  ++((struct state*)extra)->cancelled;
  ((struct state*)extra)->complete_when_cancelled = complete;
  return MPI_SUCCESS;
}

static void generalized(void) {
  struct state s = {0, 0, 0, 0}, t = {0, 0, 0, 0};
  MPI_Request r, copy;
  MPI_Status st;
  int flag = -1, count = 0;
  MPI_Grequest_start(query, release, cancel, &s, &r);
  MPI_Test(&r, &flag, &st);
  CHECK_EQUAL(flag, 0);
  MPI_Cancel(&r);
  CHECK(s.cancelled == 1 && s.complete_when_cancelled == 0);
  MPI_Grequest_complete(r);
  MPI_Request_get_status(r, &flag, &st);
  CHECK(flag == 1 && s.queried == 1 && s.freed == 0);
  CHECK(st.MPI_SOURCE == 21 && st.MPI_TAG == 22);
  MPI_Wait(&r, &st);
  MPI_Get_count(&st, MPI_INT, &count);
  CHECK(s.queried == 2 && s.freed == 1 && count == 9);
  CHECK(st.MPI_SOURCE == 21 && st.MPI_TAG == 22);
  CHECK(r == MPI_REQUEST_NULL);
  /* Freed before it is complete: the state goes when it is. */
  MPI_Grequest_start(query, release, cancel, &t, &r);
  copy = r;
  MPI_Request_free(&r);
  CHECK_EQUAL(t.freed, 0);
  MPI_Grequest_complete(copy);
  CHECK(t.freed == 1 && t.queried == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  one();
  any();
  some();
  all();
  shown();
  inactive();
  cancelled();
  freed();
  status_fields();
  partial_counts();
  generalized();
  return end();
}
