/* SPDX-License-Identifier: Apache-2.0 */
/* Handles under stress: trees of tasks that start more tasks on all nodes and end before them; handles that tasks use
 * which are not of them; handles that other nodes wait for. All tasks must have been counted when gmt_wait_handle
 * returns. Argument: a seed, printed where a count is wrong. C and C++. */
#include <gmt/gmt.h>
#include <string.h>

#include "check.h"

typedef struct {
  gmt_data_t ended; /* by node: how many tasks have ended there */
  uint64_t seed;
  uint32_t depth;
} tree;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static void grow_loop(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle);
static void grow_each(gmt_data_t array, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle);
static void grow_call(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle);

/* How many tasks a tree has: children() and the ways to start them depend on the seed alone. */
static uint32_t children(const tree* t) { return t->depth == 0 ? 0 : (uint32_t)(mix(t->seed) % 4); }
static tree child(const tree* t, uint64_t k) {
  tree c = *t;
  c.seed = mix(t->seed + 1 + k);
  c.depth = t->depth - 1;
  return c;
}
static uint64_t size_of(const tree* t) {
  uint64_t size = 1;
  for (uint32_t k = 0; k < children(t); ++k) {
    const tree c = child(t, k);
    size += size_of(&c);
  }
  return size;
}

static void grow(const tree* t, gmt_handle_t handle) {
  for (uint32_t k = 0; k < children(t); ++k) {
    const tree c = child(t, k);
    const uint32_t node = (uint32_t)(mix(c.seed + 99) % gmt_num_nodes());
    switch (mix(c.seed + 7) % 4) {
      case 0: gmt_for_loop_on_node_with_handle(node, 1, 1, grow_loop, &c, sizeof c, handle); break;
      case 1:
        gmt_execute_on_node_with_handle(node, grow_call, &c, sizeof c, NULL, NULL, GMT_PREEMPTABLE, handle);
        break;
      case 2: gmt_for_each_with_handle(t->ended, 1, node, 1, grow_each, &c, sizeof c, handle); break;
      default: gmt_for_loop_with_handle(1, 1, grow_loop, &c, sizeof c, GMT_SPAWN_PARTITION_FROM_RANDOM, handle); break;
    }
    if (mix(c.seed + 5) % 3 == 0) gmt_yield();
  }
  for (uint64_t turns = mix(t->seed + 3) % 4; turns > 0; --turns) gmt_yield();
  gmt_atomic_add(t->ended, gmt_node_id(), 1);
}

static void grow_loop(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  CHECK(start_it == 0 && num_it == 1);
  grow((const tree*)args, handle);
}
static void grow_each(gmt_data_t array, uint64_t start_el, uint64_t num_el, const void* args, gmt_handle_t handle) {
  CHECK(num_el == 1 && gmt_get_local_ptr(array, start_el) != NULL);
  grow((const tree*)args, handle);
}
static void grow_call(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  CHECK(args_size == sizeof(tree));
  grow((const tree*)args, handle);
  (void)ret, (void)ret_size;
}

static uint64_t ended(gmt_data_t a) {
  uint64_t sum = 0;
  for (uint32_t node = 0; node < gmt_num_nodes(); ++node) {
    uint64_t n = 0;
    gmt_get(a, node, &n, 1);
    sum += n;
  }
  return sum;
}

/* A tree of its own from each of these tasks, on every node, several times: with a handle of this node. */
typedef struct {
  uint64_t seed;
  gmt_handle_t shared; /* of node 0, of which this task is not */
  gmt_data_t shared_ended;
} round_args;

static void plant(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t none) {
  const round_args* r = (const round_args*)args;
  for (uint64_t i = start_it; i < start_it + num_it; ++i) {
    tree t = {gmt_alloc(gmt_num_nodes(), 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL), mix(r->seed + i), 7};
    const gmt_handle_t handle = gmt_get_handle();
    grow(&t, handle);
    gmt_wait_handle(handle);
    const uint64_t found = ended(t.ended);
    if (found != size_of(&t)) fprintf(stderr, "seed %llu\n", (unsigned long long)r->seed);
    CHECK(found == size_of(&t));
    gmt_free(t.ended);
    tree foreign = {r->shared_ended, mix(r->seed - i - 1), 5};
    grow(&foreign, r->shared);
  }
  CHECK(none == GMT_HANDLE_NULL);
}

static void get_handle(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  const gmt_handle_t made = gmt_get_handle();
  memcpy(ret, &made, sizeof made);
  *ret_size = sizeof made;
  (void)args, (void)args_size, (void)handle;
}

int gmt_main(uint64_t argc, char* argv[]) {
  const uint64_t seed = argc > 1 ? (uint64_t)atoll(argv[1]) : 1;
  const uint64_t rounds = argc > 2 ? (uint64_t)atoll(argv[2]) : 10;
  const uint64_t tasks = 4 * gmt_num_nodes();
  for (uint64_t k = 0; k < rounds; ++k) {
    round_args r = {seed + k, GMT_HANDLE_NULL, gmt_alloc(gmt_num_nodes(), 8, GMT_ALLOC_PARTITION_FROM_ZERO, NULL)};
    /* The shared handle belongs to another node in turn, and is waited for here. */
    const uint32_t owner = (uint32_t)(k % gmt_num_nodes());
    gmt_execute_on_node(owner, get_handle, NULL, 0, &r.shared, NULL, GMT_PREEMPTABLE);
    gmt_for_loop(tasks, 1, plant, &r, sizeof r, GMT_SPAWN_SPREAD);
    gmt_wait_handle(r.shared);
    uint64_t expected = 0;
    for (uint64_t i = 0; i < tasks; ++i) {
      const tree t = {r.shared_ended, mix(r.seed - i - 1), 5};
      expected += size_of(&t);
    }
    CHECK(ended(r.shared_ended) == expected);
    gmt_free(r.shared_ended);
  }
  puts("handles ok");
  return 0;
}
