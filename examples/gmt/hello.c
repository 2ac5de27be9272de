/* SPDX-License-Identifier: Apache-2.0 */
/* Says hello from a task on every node, and counts the nodes in an array.
 *   mpirun -n 2 ./hello        or: shoal run -n 2 -- ./hello */
#include <gmt/gmt.h>
#include <stdio.h>

static void hello(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  const gmt_data_t count = *(const gmt_data_t*)args;
  printf("hello from node %u of %u\n", gmt_node_id(), gmt_num_nodes());
  gmt_atomic_add(count, 0, 1);
  (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

int gmt_main(uint64_t argc, char* argv[]) {
  const gmt_data_t count = gmt_alloc(1, sizeof(uint64_t), GMT_ALLOC_LOCAL, NULL);
  gmt_execute_on_all(hello, &count, sizeof count, GMT_PREEMPTABLE);
  uint64_t nodes = 0;
  gmt_get(count, 0, &nodes, 1);
  gmt_free(count);
  (void)argc, (void)argv;
  return nodes == gmt_num_nodes() ? 0 : 1;
}
