/* SPDX-License-Identifier: Apache-2.0 */
/* Random walk, as in chapter 5 of Morari's thesis (2014): V/2 walkers take L steps each along the edges of a random
 * graph, and count their visits. Checked: all steps are counted, and walkers end where a sequential walk ends.
 *   walk [LOG2_VERTICES [STEPS]] */
#include <gmt/gmt.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  gmt_data_t offsets, edges, visits, ends;
  uint64_t vertices, steps;
} walk_args;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}
static uint64_t degree_of(uint64_t v) { return 1 + mix(v + 1) % 15; }
static uint64_t edge(const walk_args* w, uint64_t v, uint64_t k) { return mix(v * 16 + k) % w->vertices; }
static uint64_t choice(uint64_t walker, uint64_t step) { return mix(walker * UINT64_C(0x9e3779b97f4a7c15) + step); }

static void make_rows(gmt_data_t visits, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle) {
  const walk_args* w = (const walk_args*)args;
  for (uint64_t v = start_el; v < start_el + num_el; ++v) {
    uint64_t row[2], targets[16];
    gmt_get(w->offsets, v, row, 2);
    for (uint64_t k = 0; k < row[1] - row[0]; ++k) targets[k] = edge(w, v, k);
    gmt_put_nb(w->edges, row[0], targets, row[1] - row[0]);
  }
  gmt_wait_data();
  (void)visits, (void)handle;
}

static void walk(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const walk_args* w = (const walk_args*)args;
  for (uint64_t walker = start_it; walker < start_it + num_it; ++walker) {
    uint64_t v = choice(walker, 0) % w->vertices;
    for (uint64_t step = 1; step <= w->steps; ++step) {
      uint64_t row[2];
      gmt_get(w->offsets, v, row, 2);
      gmt_get(w->edges, row[0] + choice(walker, step) % (row[1] - row[0]), &v, 1);
      gmt_atomic_add_nb(w->visits, v, 1, NULL);
    }
    gmt_put_value_nb(w->ends, walker, v);
  }
  gmt_wait_data();
  (void)handle;
}

static int is_right(const walk_args* w) {
  uint64_t sum = 0;
  for (uint64_t v = 0; v < w->vertices; ++v) {
    uint64_t n = 0;
    gmt_get(w->visits, v, &n, 1);
    sum += n;
  }
  for (uint64_t walker = 0; walker < w->vertices / 2; ++walker) {
    uint64_t v = choice(walker, 0) % w->vertices, found = 0;
    for (uint64_t step = 1; step <= w->steps; ++step) v = edge(w, v, choice(walker, step) % degree_of(v));
    gmt_get(w->ends, walker, &found, 1);
    if (found != v) return 0;
  }
  return sum == w->vertices / 2 * w->steps;
}

int gmt_main(uint64_t argc, char* argv[]) {
  walk_args w = {0};
  w.vertices = UINT64_C(1) << (argc > 1 ? atoi(argv[1]) : 11);
  w.steps = argc > 2 ? (uint64_t)atoi(argv[2]) : 16;
  uint64_t* offsets = (uint64_t*)calloc(w.vertices + 1, sizeof(uint64_t));
  for (uint64_t v = 0; v < w.vertices; ++v) offsets[v + 1] = offsets[v] + degree_of(v);
  w.offsets = gmt_alloc(w.vertices + 1, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  gmt_put(w.offsets, 0, offsets, w.vertices + 1);
  w.edges = gmt_alloc(offsets[w.vertices], 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  w.visits = gmt_alloc(w.vertices, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  w.ends = gmt_alloc(w.vertices / 2, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  free(offsets);
  gmt_for_each(w.visits, 64, 0, w.vertices, make_rows, &w, sizeof w);
  const double start = gmt_timer();
  gmt_for_loop(w.vertices / 2, 1, walk, &w, sizeof w, GMT_SPAWN_PARTITION_FROM_ZERO);
  printf("%.2f M steps/s\n", (double)(w.vertices / 2 * w.steps) * 1e-6 / (gmt_timer() - start));
  return is_right(&w) ? 0 : 1;
}
