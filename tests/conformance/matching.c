/* SPDX-License-Identifier: Apache-2.0 */
/* Which receive takes which message. Of one sender the order of the sends and that of the receives decide, whatever comes
   first, so every rank computes what it must get: random tags, wildcards and lengths, begun in random order. */
#include "check.h"

enum { N = 150, TAGS = 4, LONGEST = 100000 };

static unsigned state_;
static unsigned draw(unsigned below) {
  state_ = state_ * 1664525u + 1013904223u;
  return (state_ >> 8) % below;
}

struct message {
  int tag, length, number;
};
struct receive {
  int source, tag, takes; /* which message; -1: none */
  MPI_Request request;
  char* at;
};

static struct message sent_[N], coming_[N];
static struct receive receives_[N];

static int length_of(unsigned kind) {
  static const int lengths[] = {4, 8, 100, 2000, 5000, 9000, 40000, LONGEST};
  return lengths[kind];
}

/* The messages that `rank` sends in this round. */
static void draw_messages(struct message* all, int rank, int round) {
  state_ = (unsigned)(rank * 1000 + round * 7 + 1);
  for (int i = 0; i < N; ++i) {
    all[i].tag = (int)draw(TAGS);
    all[i].length = length_of(draw(8));
    all[i].number = i;
  }
}

static void draw_receives(int source) {
  int is_taken[N] = {0};
  for (int i = 0; i < N; ++i) {
    struct receive* r = &receives_[i];
    r->source = draw(2) ? source : MPI_ANY_SOURCE;
    r->tag = draw(3) ? (int)draw(TAGS) : MPI_ANY_TAG;
    r->takes = -1;
    for (int m = 0; m < N && r->takes < 0; ++m)
      if (!is_taken[m] && (r->tag == MPI_ANY_TAG || r->tag == coming_[m].tag)) r->takes = m;
    if (r->takes >= 0) is_taken[r->takes] = 1;
  }
}

static int number_in(const char* at) {
  int n;
  memcpy(&n, at, sizeof n);
  return n;
}

static void check_taken(struct receive* r, int source) {
  MPI_Status st;
  int count = -1, cancelled = -1;
  if (r->takes < 0) MPI_Cancel(&r->request);
  MPI_Wait(&r->request, &st);
  MPI_Test_cancelled(&st, &cancelled);
  CHECK_EQUAL(cancelled, r->takes < 0);
  if (cancelled || r->takes < 0) return;
  MPI_Get_count(&st, MPI_CHAR, &count);
  CHECK_EQUAL(number_in(r->at), r->takes);
  CHECK_EQUAL(count, coming_[r->takes].length);
  CHECK(st.MPI_SOURCE == source && st.MPI_TAG == coming_[r->takes].tag);
  if (count > 4) CHECK_EQUAL(r->at[count - 1], (char)r->takes);
}

/* Those that no receive has taken are still there, in their order. */
static void take_rest(MPI_Comm comm, int source) {
  int is_taken[N] = {0}, flag = 0;
  char* at = malloc(LONGEST);
  for (int i = 0; i < N; ++i)
    if (receives_[i].takes >= 0) is_taken[receives_[i].takes] = 1;
  for (int m = 0; m < N; ++m) {
    MPI_Message message;
    MPI_Status st;
    if (is_taken[m]) continue;
    if (m % 3 == 0) {
      MPI_Recv(at, LONGEST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &st);
    } else if (m % 3 == 1) {
      MPI_Mprobe(source, MPI_ANY_TAG, comm, &message, &st);
      MPI_Mrecv(at, LONGEST, MPI_CHAR, &message, &st);
    } else {
      MPI_Probe(MPI_ANY_SOURCE, coming_[m].tag, comm, &st);
      MPI_Recv(at, LONGEST, MPI_CHAR, source, coming_[m].tag, comm, &st);
    }
    CHECK_EQUAL(number_in(at), m);
    CHECK_EQUAL(st.MPI_TAG, coming_[m].tag);
  }
  MPI_Barrier(comm);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  free(at);
}

/* `form`: 0 all receives first, 1 all sends first, 2 mixed. */
static void play(MPI_Comm comm, int round, int form) {
  const int to = (rank_ + 1 + round % size_) % size_, from = (rank_ + 2 * size_ - 1 - round % size_) % size_;
  MPI_Request* sends = malloc(sizeof(MPI_Request) * N);
  char** data = malloc(sizeof(char*) * N);
  draw_messages(coming_, from, round);
  draw_messages(sent_, rank_, round);
  state_ = (unsigned)(rank_ * 77 + round);
  draw_receives(from);
  for (int i = 0; i < N; ++i) {
    data[i] = malloc((size_t)sent_[i].length);
    memset(data[i], i, (size_t)sent_[i].length);
    memcpy(data[i], &i, sizeof i);
    receives_[i].at = calloc(LONGEST, 1);
  }
  for (int s = 0, r = 0; s < N || r < N;) {
    const int receive = s == N || (r < N && (form == 0 || (form == 2 && draw(2))));
    if (receive) {
      MPI_Irecv(receives_[r].at, LONGEST, MPI_CHAR, receives_[r].source, receives_[r].tag, comm, &receives_[r].request);
      ++r;
      if (r == N && form == 0) MPI_Barrier(comm);
    } else {
      if (draw(4))
        MPI_Isend(data[s], sent_[s].length, MPI_CHAR, to, sent_[s].tag, comm, &sends[s]);
      else
        MPI_Issend(data[s], sent_[s].length, MPI_CHAR, to, sent_[s].tag, comm, &sends[s]);
      ++s;
      if (s == N && form == 1) MPI_Barrier(comm);
    }
  }
  for (int i = 0; i < N; ++i)
    if (receives_[i].takes >= 0) check_taken(&receives_[i], from);
  for (int i = 0; i < N; ++i)
    if (receives_[i].takes < 0) check_taken(&receives_[i], from);
  take_rest(comm, from);
  MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < N; ++i) {
    free(data[i]);
    free(receives_[i].at);
  }
  free(data);
  free(sends);
}

int main(int argc, char** argv) {
  MPI_Comm copy;
  begin(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int round = 0; round < 4; ++round)
    for (int form = 0; form < 3; ++form) play(form == 1 ? copy : MPI_COMM_WORLD, round, form);
  MPI_Comm_free(&copy);
  return end();
}
