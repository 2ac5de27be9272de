/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search, level by level, as in chapter 5 of Morari's thesis (2014): a task per vertex of the queue gets
 * the vertex's row, claims the neighbours that nobody has visited, and appends them to the next queue. The graph is a
 * random one, made in parallel; a sequential search checks the levels.
 *   bfs [LOG2_VERTICES [EDGES_PER_VERTEX]] */
#include <gmt/gmt.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  gmt_data_t edges, levels, queue, next, tail;
  uint64_t vertices, degree;
  int64_t level;
} bfs_args;

static uint64_t neighbour(const bfs_args* b, uint64_t v, uint64_t k) {
  uint64_t x = (v * b->degree + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  return (x ^ (x >> 27)) % b->vertices;
}

static void make_rows(gmt_data_t levels, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle) {
  const bfs_args* b = (const bfs_args*)args;
  for (uint64_t v = start_el; v < start_el + num_el; ++v) {
    for (uint64_t k = 0; k < b->degree; ++k) gmt_put_value_nb(b->edges, v * b->degree + k, neighbour(b, v, k));
    gmt_put_value_nb(levels, v, (uint64_t)-1);
  }
  gmt_wait_data();
  (void)handle;
}

static void visit(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const bfs_args* b = (const bfs_args*)args;
  uint64_t row[64];
  for (uint64_t i = start_it; i < start_it + num_it; ++i) {
    uint64_t v = 0, found = 0;
    gmt_get(b->queue, i, &v, 1);
    gmt_get(b->edges, v * b->degree, row, b->degree);
    for (uint64_t k = 0; k < b->degree; ++k)
      if (gmt_atomic_cas(b->levels, row[k], -1, b->level) == -1) row[found++] = row[k];
    if (found == 0) continue;
    gmt_put(b->next, (uint64_t)gmt_atomic_add(b->tail, 0, (int64_t)found), row, found);
  }
  (void)handle;
}

static int is_right(const bfs_args* b) { /* the same search by one task, on copies */
  int64_t* expected = (int64_t*)malloc(b->vertices * sizeof(int64_t));
  int64_t* found = (int64_t*)malloc(b->vertices * sizeof(int64_t));
  uint64_t* queue = (uint64_t*)malloc(b->vertices * sizeof(uint64_t));
  for (uint64_t v = 0; v < b->vertices; ++v) expected[v] = -1;
  uint64_t tail = 1;
  expected[queue[0] = 0] = 0;
  for (uint64_t head = 0; head < tail; ++head)
    for (uint64_t k = 0; k < b->degree; ++k) {
      const uint64_t w = neighbour(b, queue[head], k);
      if (expected[w] != -1) continue;
      expected[w] = expected[queue[head]] + 1;
      queue[tail++] = w;
    }
  gmt_get(b->levels, 0, found, b->vertices);
  int right = 1;
  for (uint64_t v = 0; v < b->vertices; ++v) right = right && found[v] == expected[v];
  free(expected), free(found), free(queue);
  return right;
}

int gmt_main(uint64_t argc, char* argv[]) {
  bfs_args b = {0};
  b.vertices = UINT64_C(1) << (argc > 1 ? atoi(argv[1]) : 12);
  b.degree = argc > 2 ? (uint64_t)atoi(argv[2]) : 8; /* at most 64 */
  b.edges = gmt_alloc(b.vertices * b.degree, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  b.levels = gmt_alloc(b.vertices, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  b.queue = gmt_alloc(b.vertices, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  b.next = gmt_alloc(b.vertices, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  b.tail = gmt_alloc(1, 8, GMT_ALLOC_LOCAL, NULL);
  gmt_for_each(b.levels, 64, 0, b.vertices, make_rows, &b, sizeof b);
  gmt_put_value(b.levels, 0, 0);
  gmt_put_value(b.queue, 0, 0);
  const double start = gmt_timer();
  uint64_t visited = 1;
  for (uint64_t size = 1; size > 0; visited += size) {
    ++b.level;
    gmt_put_value(b.tail, 0, 0);
    gmt_for_loop(size, 1, visit, &b, sizeof b, GMT_SPAWN_PARTITION_FROM_ZERO);
    gmt_get(b.tail, 0, &size, 1);
    const gmt_data_t done = b.queue;
    b.queue = b.next;
    b.next = done;
  }
  printf("%llu of %llu vertices in %lld levels, %.2f M edges/s\n", (unsigned long long)visited,
         (unsigned long long)b.vertices, (long long)b.level,
         (double)(visited * b.degree) * 1e-6 / (gmt_timer() - start));
  return is_right(&b) ? 0 : 1;
}
