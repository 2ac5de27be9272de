/* SPDX-License-Identifier: Apache-2.0 */
/* How programs of gmt.h end, and what they get: one case per run, named by the argument. */
#include <gmt/gmt.h>
#include <string.h>

#include "check.h"

static gmt_data_t freed(void) {
  const gmt_data_t a = gmt_alloc(10, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  gmt_free(a);
  return a;
}

static void say_goodbye(void) { puts("goodbye"); }

static void leave(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  printf("task of node %u leaves\n", gmt_node_id());
  exit(*(const int*)args);
  (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

static void leave_in_loop(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  for (uint64_t i = start_it; i < start_it + num_it; ++i) {
    if (i == 900) leave(args, sizeof(int), NULL, NULL, handle);
    gmt_yield();
  }
}

static void use_remote(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  gmt_yield();
  (void)args, (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

static void wait_for_own(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  gmt_wait_handle(handle);
  (void)args, (void)args_size, (void)ret, (void)ret_size;
}

static void return_much(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  *ret_size = gmt_max_return_size() + 1;
  (void)args, (void)args_size, (void)ret, (void)handle;
}

/* Calls that cannot begin, since all workers of the node compute, fill its room for calls. */
static void compute(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  for (const double end = gmt_timer() + 0.3; gmt_timer() < end;) continue;
  (void)args, (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

static void nothing(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  (void)args, (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

static void keep_busy(void) {
  const uint32_t node = gmt_num_nodes() - 1;
  for (uint32_t w = 0; w < gmt_num_workers(); ++w)
    gmt_execute_on_node_nb(node, compute, NULL, 0, NULL, NULL, GMT_PREEMPTABLE);
  int begun = 0;
  while (begun < 100000 && gmt_try_execute_on_node_nb(node, nothing, NULL, 0, NULL, NULL, GMT_PREEMPTABLE)) ++begun;
  CHECK(begun > 0 && begun < 100000);
  gmt_wait_execute_nb();
  CHECK(gmt_try_execute_on_node(node, nothing, NULL, 0, NULL, NULL, GMT_PREEMPTABLE));
  puts("busy for a while");
}

static int is(const char* name, char* argv[]) { return strcmp(name, argv[1]) == 0; }

int gmt_main(uint64_t argc, char* argv[]) {
  if (argc < 2) return 0;
  int status = argc > 2 ? atoi(argv[2]) : 0;
  uint64_t value = 0;
  const gmt_data_t a = gmt_alloc(10, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  atexit(say_goodbye);
  if (is("arguments", argv)) {
    for (uint64_t i = 0; i < argc; ++i) printf("argument %s\n", i == 0 ? "0" : argv[i]);
    printf("workers %u of node %u\n", gmt_num_workers(), gmt_node_id());
  }
  if (is("busy", argv)) keep_busy();
  if (is("return", argv)) return status;
  if (is("exit_main", argv)) leave(&status, sizeof status, NULL, NULL, GMT_HANDLE_NULL);
  if (is("exit_there", argv)) {
    gmt_execute_on_node(gmt_num_nodes() - 1, leave, &status, sizeof status, NULL, NULL, GMT_PREEMPTABLE);
    for (;;) gmt_yield(); /* until the job ends */
  }
  if (is("exit_in_loop", argv))
    gmt_for_loop(1000, 1, leave_in_loop, &status, sizeof status, GMT_SPAWN_PARTITION_FROM_ZERO);
  if (is("freed", argv)) gmt_get(freed(), 0, &value, 1);
  if (is("null", argv)) gmt_put_value(GMT_DATA_NULL, 0, 1);
  if (is("beyond", argv)) gmt_atomic_add(a, 10, 1);
  if (is("width", argv)) gmt_atomic_cas(gmt_alloc(10, 12, GMT_ALLOC_LOCAL, NULL), 0, 1, 2);
  if (is("handle", argv)) gmt_wait_handle(77);
  if (is("node", argv)) gmt_execute_on_node(gmt_num_nodes(), leave, NULL, 0, NULL, NULL, GMT_PREEMPTABLE);
  if (is("own_handle", argv)) {
    const gmt_handle_t h = gmt_get_handle();
    gmt_execute_on_node_with_handle(0, wait_for_own, NULL, 0, NULL, NULL, GMT_PREEMPTABLE, h);
    gmt_wait_handle(h);
  }
  if (is("non_preemptable", argv)) gmt_execute_on_node(0, use_remote, NULL, 0, NULL, NULL, GMT_NON_PREEMPTABLE);
  if (is("returned", argv)) gmt_execute_on_node(0, return_much, NULL, 0, &value, NULL, GMT_PREEMPTABLE);
  if (is("arguments_length", argv)) {
    static char much[1 << 16];
    gmt_execute_on_node(0, leave, much, sizeof much, NULL, NULL, GMT_PREEMPTABLE);
  }
  return 0;
}
