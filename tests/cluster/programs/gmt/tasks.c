/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of gmt.h about loops, calls and where a task is, in C and (compiled once more) in C++. */
#include <errno.h>
#include <gmt/gmt.h>
#include <string.h>

#include "check.h"

static const spawn_policy_t policies[] = {GMT_SPAWN_LOCAL,
                                          GMT_SPAWN_REMOTE,
                                          GMT_SPAWN_PARTITION_FROM_ZERO,
                                          GMT_SPAWN_PARTITION_FROM_RANDOM,
                                          GMT_SPAWN_PARTITION_FROM_HERE,
                                          GMT_SPAWN_SPREAD};

typedef struct {
  gmt_data_t marks; /* by iteration: 1 more each time, and 256 times 1 + the node */
  uint64_t size, per_task;
  uint32_t caller;
  int policy; /* of spawn_policy_t; -1: on_node; -2: for_each */
  uint32_t node;
  gmt_handle_t handle;
  char rest[1000]; /* arguments of any size */
} marking;

static void mark(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const marking* m = (const marking*)args;
  CHECK(m->rest[999] == 'z' && handle == m->handle && num_it > 0);
  if (m->per_task != 0) CHECK(num_it <= m->per_task);
  if (m->per_task != 0 && m->policy == GMT_SPAWN_SPREAD)
    CHECK(start_it % m->per_task == 0 && gmt_node_id() == start_it / m->per_task % gmt_num_nodes());
  if (m->policy == GMT_SPAWN_LOCAL) CHECK(gmt_node_id() == m->caller);
  if (m->policy == GMT_SPAWN_REMOTE && gmt_num_nodes() > 1) CHECK(gmt_node_id() != m->caller);
  if (m->policy == -1) CHECK(gmt_node_id() == m->node);
  errno = (int)start_it + 1;
  for (uint64_t i = start_it; i < start_it + num_it; ++i) {
    if (m->policy == GMT_SPAWN_PARTITION_FROM_ZERO) CHECK(gmt_get_local_ptr(m->marks, i) != NULL);
    gmt_atomic_add_nb(m->marks, i, 1, NULL);
    if (i % 3 == 0) gmt_yield();
  }
  gmt_wait_data();
  CHECK(errno == (int)start_it + 1);
}

static void mark_each(gmt_data_t array, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle) {
  const marking* m = (const marking*)args;
  CHECK(array == m->marks && handle == m->handle && num_el > 0);
  for (uint64_t i = start_el; i < start_el + num_el; ++i) {
    CHECK(gmt_get_local_ptr(array, i) != NULL);
    gmt_atomic_add(array, i, 1);
  }
}

static void expect_marks(marking* m, uint64_t times) {
  for (uint64_t i = 0; i < m->size; ++i) {
    uint64_t value = 0;
    gmt_get(m->marks, i, &value, 1);
    CHECK(value == times);
    gmt_put_value(m->marks, i, 0);
  }
}

static void test_loops(void) {
  enum { k_size = 233 };
  static const uint32_t per_task[] = {1, 7, 0};
  marking m = {gmt_alloc(k_size, 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL), k_size, 0, 0, 0, 0, GMT_HANDLE_NULL, {0}};
  m.rest[999] = 'z';
  for (int p = 0; p < 6; ++p)
    for (int g = 0; g < 3; ++g) {
      m.per_task = per_task[g];
      m.policy = (int)policies[p];
      m.handle = GMT_HANDLE_NULL;
      gmt_for_loop(k_size, per_task[g], mark, &m, sizeof m, policies[p]);
      gmt_for_loop_nb(k_size, per_task[g], mark, &m, sizeof m, policies[p]);
      gmt_for_loop_nb(k_size, per_task[g], mark, &m, sizeof m, policies[p]);
      gmt_for_loop(0, per_task[g], mark, &m, sizeof m, policies[p]);
      gmt_wait_for_nb();
      expect_marks(&m, 3);
      m.handle = gmt_get_handle();
      gmt_for_loop_with_handle(k_size, per_task[g], mark, &m, sizeof m, policies[p], m.handle);
      gmt_wait_handle(m.handle);
      expect_marks(&m, 1);
    }
  m.policy = -1;
  for (m.node = 0; m.node < gmt_num_nodes(); ++m.node) {
    m.handle = GMT_HANDLE_NULL;
    gmt_for_loop_on_node(m.node, k_size, 0, mark, &m, sizeof m);
    gmt_for_loop_on_node_nb(m.node, k_size, 0, mark, &m, sizeof m);
    gmt_wait_for_nb();
    m.handle = gmt_get_handle();
    gmt_for_loop_on_node_with_handle(m.node, k_size, 0, mark, &m, sizeof m, m.handle);
    gmt_wait_handle(m.handle);
    expect_marks(&m, 3);
  }
  gmt_free(m.marks);
  static const alloc_type_t types[] = {GMT_ALLOC_LOCAL, GMT_ALLOC_PARTITION_FROM_HERE, GMT_ALLOC_REMOTE,
                                       GMT_ALLOC_REPLICATE};
  m.policy = -2;
  for (int t = 0; t < 4; ++t) {
    m.marks = gmt_alloc(k_size, 8, types[t], NULL);
    m.handle = GMT_HANDLE_NULL;
    gmt_for_each(m.marks, 10, 0, k_size, mark_each, &m, sizeof m);
    gmt_for_each_nb(m.marks, 1, 0, k_size - 5, mark_each, &m, sizeof m);
    gmt_for_each_nb(m.marks, 0, k_size - 5, 5, mark_each, &m, sizeof m);
    gmt_wait_for_nb();
    m.handle = gmt_get_handle();
    gmt_for_each_with_handle(m.marks, 3, 0, k_size, mark_each, &m, sizeof m, m.handle);
    gmt_wait_handle(m.handle);
    expect_marks(&m, 3);
    gmt_free(m.marks);
  }
}

/* --- calls --- */

static void reverse(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  CHECK(ret != NULL && *ret_size == 0);
  const char* text = (const char*)args;
  char* to = (char*)ret;
  for (uint32_t i = 0; i < args_size; ++i) to[i] = text[args_size - 1 - i];
  to[args_size] = (char)('0' + gmt_node_id() % 10);
  *ret_size = args_size + 1;
  if (!gmt_task_is_non_preemptable()) gmt_yield();
  (void)handle;
}

static void expect_reversed(const char* text, uint32_t size, const char* ret, uint32_t ret_size, uint32_t node) {
  CHECK(ret_size == size + 1 && ret[size] == (char)('0' + node % 10));
  for (uint32_t i = 0; i < size; ++i) CHECK(ret[i] == text[size - 1 - i]);
}

typedef struct {
  gmt_data_t seen; /* by node */
  gmt_handle_t handle;
  bool non_preemptable;
} visit;

static void visit_node(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  const visit* v = (const visit*)args;
  CHECK(args_size == sizeof *v && handle == v->handle);
  CHECK(gmt_task_is_non_preemptable() == v->non_preemptable);
  *(uint64_t*)gmt_get_local_ptr(v->seen, gmt_node_id()) += 1; /* one at a time */
  (void)ret, (void)ret_size;
}

static void add_there(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  for (int i = 0; i < 50; ++i) gmt_atomic_add_nb(*(const gmt_data_t*)args, 0, 1, NULL);
  (void)args_size, (void)ret, (void)ret_size, (void)handle;
}

/* What a task has begun is complete when it has ended, also if it cannot wait. */
static void test_ends_of_calls(void) {
  const gmt_data_t sum = gmt_alloc(1, 8, GMT_ALLOC_LOCAL, NULL);
  int64_t expected = 0;
  for (int round = 0; round < 400; ++round) {
    int64_t found = 0;
    gmt_execute_on_node(gmt_num_nodes() - 1, add_there, &sum, sizeof sum, NULL, NULL,
                        round % 2 == 0 ? GMT_NON_PREEMPTABLE : GMT_PREEMPTABLE);
    expected += 50;
    gmt_get(sum, 0, &found, 1);
    CHECK(found == expected);
  }
  gmt_free(sum);
}

static void test_calls(void) {
  test_ends_of_calls();
  static const char text[] = "a shoal of calls";
  static char long_text[11264], long_ret[11265];
  memset(long_text, 'x', sizeof long_text);
  CHECK(gmt_max_args_per_task() >= 8192 && gmt_max_return_size() >= 8192 && gmt_get_comm_buffer_size() >= 8192);
  CHECK(gmt_max_tasks_per_worker() > 0);
  for (uint32_t node = 0; node < gmt_num_nodes(); ++node)
    for (int non = 0; non < 2; ++non) {
      const preempt_policy_t how = non ? GMT_NON_PREEMPTABLE : GMT_PREEMPTABLE;
      char ret[6][32];
      uint32_t size[6] = {0, 0, 0, 0, 0, 0};
      gmt_execute_on_node(node, reverse, text, sizeof text, ret[0], &size[0], how);
      gmt_execute_on_node_nb(node, reverse, text, sizeof text, ret[1], &size[1], how);
      const gmt_handle_t handle = gmt_get_handle();
      gmt_execute_on_node_with_handle(node, reverse, text, sizeof text, ret[2], &size[2], how, handle);
      CHECK(gmt_try_execute_on_node(node, reverse, text, sizeof text, ret[3], &size[3], how));
      CHECK(gmt_try_execute_on_node_nb(node, reverse, text, sizeof text, ret[4], &size[4], how));
      CHECK(gmt_try_execute_on_node_with_handle(node, reverse, text, sizeof text, ret[5], &size[5], how, handle));
      gmt_execute_on_node_nb(node, reverse, text, sizeof text, NULL, NULL, how);
      gmt_wait_execute_nb();
      gmt_wait_handle(handle);
      for (int i = 0; i < 6; ++i) expect_reversed(text, sizeof text, ret[i], size[i], node);
    }
  uint32_t long_size = 0;
  gmt_execute_on_node(gmt_num_nodes() - 1, reverse, long_text, gmt_max_args_per_task() - 1, long_ret, &long_size,
                      GMT_PREEMPTABLE);
  CHECK(long_size == gmt_max_args_per_task() && long_ret[0] == 'x');
  const gmt_data_t a = gmt_alloc(gmt_num_nodes(), 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL);
  for (uint32_t node = 0; node < gmt_num_nodes(); ++node) {
    char ret[6][32];
    uint32_t size[6] = {0, 0, 0, 0, 0, 0};
    const gmt_handle_t handle = gmt_get_handle();
    gmt_execute_on_data(a, node, reverse, text, 3, ret[0], &size[0], GMT_PREEMPTABLE);
    gmt_execute_on_data_nb(a, node, reverse, text, 3, ret[1], &size[1], GMT_PREEMPTABLE);
    gmt_execute_on_data_with_handle(a, node, reverse, text, 3, ret[2], &size[2], GMT_PREEMPTABLE, handle);
    CHECK(gmt_try_execute_on_data(a, node, reverse, text, 3, ret[3], &size[3], GMT_PREEMPTABLE));
    CHECK(gmt_try_execute_on_data_nb(a, node, reverse, text, 3, ret[4], &size[4], GMT_PREEMPTABLE));
    CHECK(gmt_try_execute_on_data_with_handle(a, node, reverse, text, 3, ret[5], &size[5], GMT_PREEMPTABLE, handle));
    gmt_wait_execute_nb();
    gmt_wait_handle(handle);
    for (int i = 0; i < 6; ++i) expect_reversed(text, 3, ret[i], size[i], node);
  }
  for (int non = 0; non < 2; ++non) {
    const preempt_policy_t how = non ? GMT_NON_PREEMPTABLE : GMT_PREEMPTABLE;
    visit v = {a, GMT_HANDLE_NULL, non == 1};
    gmt_execute_on_all(visit_node, &v, sizeof v, how);
    gmt_execute_on_all_nb(visit_node, &v, sizeof v, how);
    gmt_wait_execute_nb();
    v.handle = gmt_get_handle();
    gmt_execute_on_all_with_handle(visit_node, &v, sizeof v, how, v.handle);
    gmt_wait_handle(v.handle);
  }
  for (uint32_t node = 0; node < gmt_num_nodes(); ++node) {
    uint64_t seen = 0;
    gmt_get(a, node, &seen, 1);
    CHECK(seen == 6);
  }
  gmt_free(a);
}

/* --- where am I --- */

typedef struct {
  gmt_data_t ids; /* of tasks that exist at the same time, by number: how many had it */
  gmt_data_t begun;
  uint64_t tasks;
} counting;

static void take_id(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const counting* c = (const counting*)args;
  const uint32_t id = gmt_task_id();
  CHECK(gmt_worker_id() < gmt_num_workers() && !gmt_task_is_non_preemptable());
  CHECK(id < c->tasks * gmt_num_workers());
  CHECK(gmt_atomic_add(c->ids, id, 1) == 0);
  gmt_atomic_add(c->begun, 0, 1);
  for (int64_t begun = 0; begun < (int64_t)c->tasks; gmt_get(c->begun, 0, &begun, 1)) gmt_yield();
  CHECK(gmt_task_id() == id);
  (void)start_it, (void)num_it, (void)handle;
}

static void test_here(void) {
  CHECK(gmt_node_id() == 0 && gmt_num_nodes() > 0);
  const double start = gmt_timer();
  CHECK(start > 0 && gmt_timer() >= start);
  gmt_srand(7);
  const uint64_t a = gmt_rand();
  const uint64_t b = gmt_rand();
  gmt_srand(7);
  CHECK(gmt_rand() == a && gmt_rand() == b && a != b);
  for (int round = 0; round < 2; ++round) {
    counting c = {GMT_DATA_NULL, GMT_DATA_NULL, 20};
    c.ids = gmt_alloc(c.tasks * gmt_num_workers(), 4, GMT_ALLOC_LOCAL, NULL);
    c.begun = gmt_alloc(1, 8, GMT_ALLOC_LOCAL, NULL);
    gmt_for_loop(c.tasks, 1, take_id, &c, sizeof c, GMT_SPAWN_LOCAL);
    gmt_free(c.ids);
    gmt_free(c.begun);
  }
  gmt_timing(-1);
  gmt_profile(-1);
  gmt_timing(1);
  gmt_profile(0);
  gmt_print_stack_trace();
}

int gmt_main(uint64_t argc, char* argv[]) {
  test_here();
  test_loops();
  test_calls();
  puts("tasks ok");
  return argc > 1 ? atoi(argv[1]) : 0;
}
