/* SPDX-License-Identifier: Apache-2.0 */
/* Adds 1 to random elements of a table, once with blocking additions of many tasks and once with non-blocking ones;
 * checks that the sum of the table is the number of additions.
 *   gups [LOG2_SIZE [UPDATES_PER_TASK [TASKS]]] */
#include <gmt/gmt.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  gmt_data_t table;
  uint64_t mask, updates;
} gups_args;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static void blocking(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const gups_args* g = (const gups_args*)args;
  for (uint64_t i = start_it * g->updates; i < (start_it + num_it) * g->updates; ++i)
    gmt_atomic_add(g->table, mix(i + 1) & g->mask, 1);
  (void)handle;
}

static void non_blocking(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const gups_args* g = (const gups_args*)args;
  for (uint64_t i = start_it * g->updates; i < (start_it + num_it) * g->updates; ++i)
    gmt_atomic_add_nb(g->table, mix(i + 1) & g->mask, 1, NULL);
  gmt_wait_data();
  (void)handle;
}

static void sum_up(gmt_data_t array, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle) {
  const uint64_t* at = (const uint64_t*)gmt_get_local_ptr(array, start_el);
  uint64_t sum = 0;
  for (uint64_t k = 0; k < num_el; ++k) sum += at[k];
  gmt_atomic_add(*(const gmt_data_t*)args, 0, (int64_t)sum);
  (void)handle;
}

int gmt_main(uint64_t argc, char* argv[]) {
  const uint64_t size = UINT64_C(1) << (argc > 1 ? atoi(argv[1]) : 16);
  const uint64_t updates = argc > 2 ? (uint64_t)atoll(argv[2]) : 64;
  const uint64_t tasks = argc > 3 ? (uint64_t)atoll(argv[3]) : 2048;
  const gups_args g = {gmt_alloc(size, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL), size - 1, updates};
  double seconds[2];
  for (int how = 0; how < 2; ++how) {
    const double start = gmt_timer();
    gmt_for_loop(tasks, 1, how == 0 ? blocking : non_blocking, &g, sizeof g, GMT_SPAWN_PARTITION_FROM_ZERO);
    seconds[how] = gmt_timer() - start;
  }
  const gmt_data_t sum = gmt_alloc(1, 8, GMT_ALLOC_LOCAL, NULL);
  gmt_for_each(g.table, 4096, 0, size, sum_up, &sum, sizeof sum);
  uint64_t total = 0;
  gmt_get(sum, 0, &total, 1);
  const double million = (double)(tasks * updates) * 1e-6;
  printf("%.2f M/s blocking, %.2f M/s non-blocking\n", million / seconds[0], million / seconds[1]);
  gmt_free(sum);
  gmt_free(g.table);
  return total == 2 * tasks * updates ? 0 : 1;
}
