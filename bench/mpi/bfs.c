// SPDX-License-Identifier: Apache-2.0
// Hybrid breadth-first search, level by level: each thread searches its part of the frontier and collects (vertex,
// parent) pairs in buffers of its own per process; full buffers travel to the same thread there. Switches:
//   --lazy 1     a send is tested only when its buffer is needed again, else all of them at every step
//   --barrier 1  a level ends by a non-blocking barrier behind synchronous sends, else by an empty message to everybody
// Counts messages that are full, incomplete and empty. Each search is compared with one made alone.
#include "measure.h"

struct out_buffer {
  int64_t* pairs;
  int count;
  MPI_Request request;
};

struct lane {  // what a thread owns
  struct out_buffer* out;
  int64_t* in;
  MPI_Request receive;
  MPI_Comm comm;
  int64_t *queue, *next;
  int64_t queued, next_count, next_room;
  int ended;
  long long full, incomplete, empty;
};

static int scale, edge_factor, threads, room, lazy, nbarrier;
static int64_t vertices, local_count, edges;
static int64_t *offsets, *targets;  // of all vertices: the search uses its own, the verification all
static _Atomic int64_t* parent;  // of our vertices; races between threads are benign: any parent of the level will do
static struct lane lanes[k_max_threads];
static struct thread_barrier barrier;
static int64_t root, frontier;
static atomic_llong next_total;

static int owner(int64_t v) { return (int)(v % g_program.ranks); }
static int64_t place(int64_t v) { return v / g_program.ranks; }

static void make_edge(int64_t number, int64_t* from, int64_t* to) {
  int64_t a = 0, b = 0;
  for (int bit = 0; bit < scale; ++bit) {
    const double r = (double)(scramble((uint64_t)number * 64 + (uint64_t)bit) >> 11) / 9007199254740992.0;
    a = a << 1 | (r >= 0.76);
    b = b << 1 | ((r >= 0.57 && r < 0.76) || r >= 0.95);
  }
  *from = a;
  *to = b;
}

static void make_graph(void) {
  const int64_t count = edges;
  offsets = calloc((size_t)vertices + 2, 8);
  targets = malloc((size_t)count * 2 * 8);
  if (offsets == NULL || targets == NULL) stop_program("out of memory");
  int64_t a, b;
  for (int64_t i = 0; i < count; ++i) {
    make_edge(i, &a, &b);
    ++offsets[a + 2];
    ++offsets[b + 2];
  }
  for (int64_t v = 0; v < vertices; ++v) offsets[v + 2] += offsets[v + 1];
  for (int64_t i = 0; i < count; ++i) {
    make_edge(i, &a, &b);
    targets[offsets[a + 1]++] = b;
    targets[offsets[b + 1]++] = a;
  }
}

static void found(struct lane* l, int64_t v, int64_t from) {
  _Atomic int64_t* p = &parent[place(v)];
  if (atomic_load_explicit(p, memory_order_relaxed) >= 0) return;
  atomic_store_explicit(p, from, memory_order_relaxed);
  if (l->next_count == l->next_room) {
    l->next_room *= 2;
    l->next = realloc(l->next, (size_t)l->next_room * 8);
    if (l->next == NULL) stop_program("out of memory");
  }
  l->next[l->next_count++] = v;
}

static void expect_message(struct lane* l, int thread) {
  MPI_Irecv(l->in, 2 * room, MPI_INT64_T, MPI_ANY_SOURCE, thread, l->comm, &l->receive);
}

static void use_message(struct lane* l, const MPI_Status* status) {
  int count = 0;
  MPI_Get_count(status, MPI_INT64_T, &count);
  for (int i = 0; i < count; i += 2) {
    expect(owner(l->in[i]) == g_program.rank, "a pair reached a process that does not own its vertex");
    found(l, l->in[i], l->in[i + 1]);
  }
  if (count == 0) ++l->ended;
}

static void take(struct lane* l, int thread) {
  int flag = 0;
  MPI_Status status;
  MPI_Test(&l->receive, &flag, &status);
  if (!flag) return;
  use_message(l, &status);
  expect_message(l, thread);
}

// The end of the barrier says that every message was matched: one may lie in the receive that is posted.
static void take_last(struct lane* l, int thread) {
  int cancelled = 0;
  MPI_Status status;
  MPI_Cancel(&l->receive);
  MPI_Wait(&l->receive, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) use_message(l, &status);
  expect_message(l, thread);
}

static void poll(struct lane* l, int thread) {
  for (int r = 0; r < g_program.ranks && !lazy; ++r) {
    int flag = 0;
    if (l->out[r].request != MPI_REQUEST_NULL) MPI_Test(&l->out[r].request, &flag, MPI_STATUS_IGNORE);
  }
  take(l, thread);
}

static void await_send(struct lane* l, int thread, int to) {
  for (int flag = 0; l->out[to].request != MPI_REQUEST_NULL && !flag;) {
    MPI_Test(&l->out[to].request, &flag, MPI_STATUS_IGNORE);
    if (!flag) take(l, thread);  // or two full processes would wait for each other
  }
}

static void send(struct lane* l, int thread, int to) {
  struct out_buffer* b = &l->out[to];
  if (b->count == room) {
    ++l->full;
  } else {
    ++*(b->count == 0 ? &l->empty : &l->incomplete);
  }
  if (nbarrier) {
    MPI_Issend(b->pairs, 2 * b->count, MPI_INT64_T, to, thread, l->comm, &b->request);
  } else {
    MPI_Isend(b->pairs, 2 * b->count, MPI_INT64_T, to, thread, l->comm, &b->request);
  }
}

static void visit(struct lane* l, int thread, int64_t v, int64_t from) {
  const int to = owner(v);
  if (to == g_program.rank) {
    found(l, v, from);
    return;
  }
  struct out_buffer* b = &l->out[to];
  if (b->count == room) {  // it has been sent
    await_send(l, thread, to);
    b->count = 0;
  }
  b->pairs[2 * b->count] = v;
  b->pairs[2 * b->count + 1] = from;
  if (++b->count == room) {
    send(l, thread, to);
    poll(l, thread);
  }
}

static void end_level(struct lane* l, int thread) {
  for (int r = 0; r < g_program.ranks; ++r) {
    struct out_buffer* b = &l->out[r];
    if (r == g_program.rank) continue;
    if (b->count > 0 && b->count < room) send(l, thread, r);
    await_send(l, thread, r);
    b->count = 0;
    if (!nbarrier) send(l, thread, r);
  }
  if (nbarrier) {
    MPI_Request all;
    MPI_Ibarrier(l->comm, &all);
    for (int flag = 0; !flag;) {
      take(l, thread);
      MPI_Test(&all, &flag, MPI_STATUS_IGNORE);
    }
    take_last(l, thread);
  } else {
    while (l->ended < g_program.ranks - 1) take(l, thread);
    for (int r = 0; r < g_program.ranks; ++r) await_send(l, thread, r);
  }
  l->ended = 0;
}

static void body(int thread) {
  struct lane* l = &lanes[thread];
  expect_message(l, thread);
  measured_begin();
  while (frontier > 0) {
    thread_barrier_wait(&barrier);
    for (int64_t i = 0; i < l->queued; ++i) {
      const int64_t v = l->queue[i];
      for (int64_t e = offsets[v]; e < offsets[v + 1]; ++e) visit(l, thread, targets[e], v);
      if (i % 64 == 0) poll(l, thread);
    }
    end_level(l, thread);
    int64_t* swap = l->queue;  // the queue grows with the next one
    l->queue = l->next;
    l->next = malloc((size_t)l->next_room * 8);
    free(swap);
    l->queued = l->next_count;
    l->next_count = 0;
    atomic_fetch_add(&next_total, l->queued);
    thread_barrier_wait(&barrier);
    if (thread == 0) {
      const int64_t mine = atomic_exchange(&next_total, 0);
      MPI_Allreduce(&mine, &frontier, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    thread_barrier_wait(&barrier);
  }
  measured_end();
  MPI_Cancel(&l->receive);
  MPI_Wait(&l->receive, MPI_STATUS_IGNORE);
}

// Levels by a search alone; every process verifies its own vertices against them. Returns the edges that were searched.
static int64_t verify(void) {
  int64_t* level = malloc((size_t)vertices * 8);
  int64_t* queue = malloc((size_t)vertices * 8);
  if (level == NULL || queue == NULL) stop_program("out of memory");
  for (int64_t v = 0; v < vertices; ++v) level[v] = -1;
  int64_t head = 0, tail = 0, searched = 0;
  level[root] = 0;
  queue[tail++] = root;
  while (head < tail) {
    const int64_t v = queue[head++];
    for (int64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
      ++searched;
      if (level[targets[e]] < 0) {
        level[targets[e]] = level[v] + 1;
        queue[tail++] = targets[e];
      }
    }
  }
  for (int64_t v = g_program.rank; v < vertices; v += g_program.ranks) {
    const int64_t p = atomic_load(&parent[place(v)]);
    if (level[v] < 0) {
      expect(p < 0, "a vertex was reached that cannot be");
      continue;
    }
    expect(p >= 0, "a vertex was not reached");
    if (p < 0 || v == root) continue;
    int edge = 0;
    for (int64_t e = offsets[v]; e < offsets[v + 1]; ++e) edge |= targets[e] == p;
    expect(edge && level[p] == level[v] - 1, "a parent is no neighbour of the level before");
  }
  free(level);
  free(queue);
  return searched / 2;
}

static void prepare(void) {
  for (int64_t i = 0; i < local_count; ++i) atomic_store_explicit(&parent[i], -1, memory_order_relaxed);
  for (int t = 0; t < threads; ++t) lanes[t].queued = lanes[t].next_count = 0;
  frontier = 1;
  if (owner(root) != g_program.rank) return;
  atomic_store(&parent[place(root)], root);
  lanes[0].queue[0] = root;
  lanes[0].queued = 1;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process"},
                                   {"scale", 12, "2^scale vertices"},
                                   {"edge_factor", 16, "edges per vertex"},
                                   {"buffer", 128, "pairs per message"},
                                   {"lazy", 1, "test sends only when their buffer is needed"},
                                   {"barrier", 1, "end levels by a non-blocking barrier"}};
  begin_program(argc, argv, "bfs", options, 6);
  threads = option_count("threads");
  scale = option_count("scale");
  edge_factor = option_count("edge_factor");
  room = option_count("buffer");
  lazy = option_count("lazy");
  nbarrier = option_count("barrier");
  if (scale < 1 || scale > 24 || edge_factor < 1 || room < 1 || threads < 1 || threads > k_max_threads) {
    stop_program("scale from 1 to 24, edge_factor and buffer from 1, threads from 1 to 64");
  }
  vertices = (int64_t)1 << scale;
  edges = vertices * edge_factor;
  make_graph();
  local_count = (vertices + g_program.ranks - 1) / g_program.ranks;
  parent = malloc((size_t)local_count * sizeof *parent);
  barrier.threads = threads;
  for (int t = 0; t < threads; ++t) {
    struct lane* l = &lanes[t];
    MPI_Comm_dup(MPI_COMM_WORLD, &l->comm);
    l->out = calloc((size_t)g_program.ranks, sizeof *l->out);
    for (int r = 0; r < g_program.ranks; ++r) {
      l->out[r].pairs = malloc((size_t)room * 16);
      l->out[r].request = MPI_REQUEST_NULL;
    }
    l->in = malloc((size_t)room * 16);
    l->next_room = local_count + 1;
    l->queue = malloc((size_t)l->next_room * 8);
    l->next = malloc((size_t)l->next_room * 8);
  }
  double seconds = 0, searched = 0;
  long long searches = 0;
  for (int more = 1; more;) {
    do {
      root = (int64_t)(scramble((uint64_t)root + 1) % (uint64_t)vertices);
    } while (offsets[root] == offsets[root + 1]);
    prepare();
    run_threads(threads, body);
    seconds += measured_seconds();
    searched += (double)verify();
    ++searches;
    more = seconds < option_value("seconds");
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  double full = 0, incomplete = 0, empty = 0;
  for (int t = 0; t < threads; ++t) {
    full += (double)lanes[t].full;
    incomplete += (double)lanes[t].incomplete;
    empty += (double)lanes[t].empty;
    MPI_Comm_free(&lanes[t].comm);
  }
  add_metric("rate", "M edges/s", searched / over_ranks(seconds, MPI_MAX) / 1e6);
  add_metric("messages_full", "per search", over_ranks(full, MPI_SUM) / (double)searches);
  add_metric("messages_incomplete", "per search", over_ranks(incomplete, MPI_SUM) / (double)searches);
  add_metric("messages_empty", "per search", over_ranks(empty, MPI_SUM) / (double)searches);
  return end_program();
}
