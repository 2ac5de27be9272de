/* SPDX-License-Identifier: Apache-2.0 */
/* GMT's C interface: global arrays, tasks on all nodes, for programs written for the GMT library. C and C++.
 *   int gmt_main(uint64_t argc, char* argv[]) { ...; return 0; }     the main task, on node 0; libgmt owns main()
 * Who may call: the main task and the tasks that these functions start. "Switches": the calling task may be suspended,
 * and its thread runs others meanwhile; it stays on its thread. A non-preemptable task must not call what switches.
 * Offsets and counts are in elements; times in seconds; sizes named bytes in bytes.
 * Errors: misuse (no such array, element, node or handle; elements of another width) ends the program with a message
 * that names the function. An exception of a body is thrown by the call that waits for it (C++); what runs under a
 * handle has none, and its exceptions are logged.
 * Meanings that GMT leaves open, options, how to build: docs/gmt.md. Source: Morari 2014, chapter 5; GMT's interface.
 * Shown by tests/cluster/gmt_test.cpp, tests/install/gmt, examples/gmt.
 */
#ifndef GMT_GMT_H
#define GMT_GMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The program's main task. Runs on node 0; what it returns is the exit status. `argv` has the program's arguments
 * without those that begin with --gmt_, --gmt- or --shoal-. Defined by the program. */
int gmt_main(uint64_t argc, char* argv[]);

/* --- types -------------------------------------------------------------------------------------------------------- */

/** Names a global array, on every node: a plain value that arguments of tasks and elements of arrays may hold. */
typedef int64_t gmt_data_t;
#define GMT_DATA_NULL ((gmt_data_t)-1)

/** Names a set of tasks, on every node, that gmt_wait_handle waits for. */
typedef uint32_t gmt_handle_t;
#define GMT_HANDLE_NULL (~(gmt_handle_t)0)

/** Where the elements of an array are; or-ed with GMT_ALLOC_ZERO and one of the last four. All memory is zeroed. */
typedef enum {
  GMT_ALLOC_LOCAL = 0,                 /* all on the calling node */
  GMT_ALLOC_PARTITION_FROM_ZERO = 1,   /* equal contiguous blocks on all nodes, the first one on node 0 */
  GMT_ALLOC_PARTITION_FROM_RANDOM = 2, /* the first one on a node that is chosen at random */
  GMT_ALLOC_PARTITION_FROM_HERE = 3,   /* the first one on the calling node */
  GMT_ALLOC_REMOTE = 4,                /* equal blocks on all nodes but the calling one; with one node: there */
  GMT_ALLOC_REPLICATE = 5,             /* a copy on each node: reads are local, writes go to all copies */
  GMT_ALLOC_PERNODE = 6,               /* num_elems elements on each node: node k has those from k * num_elems on */
  GMT_ALLOC_ZERO = 8,                  /* all zero, as they are anyway */
  GMT_ALLOC_RAM = 0,                   /* the array ends with the job */
  GMT_ALLOC_SHM = 16,                  /* an array with a name is kept in the folder of --gmt-state */
  GMT_ALLOC_SSD = 32,                  /* the same */
  GMT_ALLOC_DISK = 48                  /* the same */
} alloc_type_t;

/** Where the tasks of a loop run. They run there always, however busy the nodes are. */
typedef enum {
  GMT_SPAWN_LOCAL,                 /* on the calling node */
  GMT_SPAWN_REMOTE,                /* equal contiguous shares on all other nodes; with one node: there */
  GMT_SPAWN_PARTITION_FROM_ZERO,   /* equal contiguous shares on all nodes, as arrays of that name */
  GMT_SPAWN_PARTITION_FROM_RANDOM, /* the first one on a node that is chosen at random */
  GMT_SPAWN_PARTITION_FROM_HERE,   /* the first one on the calling node */
  GMT_SPAWN_SPREAD                 /* task k on node k mod n */
} spawn_policy_t;

typedef enum {
  GMT_PREEMPTABLE,    /* a task that may be suspended */
  GMT_NON_PREEMPTABLE /* runs to its end; it may use its own node's elements, and must not call what switches */
} preempt_policy_t;

/** A task of a loop: iterations start_it ... start_it + num_it - 1. `args`: the task's copy of the loop's arguments,
 * aligned to 8 bytes, which it must not change. The handle is that of the loop, or GMT_HANDLE_NULL. */
typedef void (*gmt_for_loop_func_t)(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle);
/** The same for elements of an array, all of them on the node where it runs (except of GMT_ALLOC_REPLICATE). */
typedef void (*gmt_for_each_func_t)(gmt_data_t array, uint64_t start_el, uint64_t num_el, const void* args,
                                    gmt_handle_t handle);
/** A task of its own. It may write up to gmt_max_return_size() bytes to `ret` (aligned to 8 bytes, never NULL) and sets
 * *ret_size, which is 0 before, to how many. */
typedef void (*gmt_execute_func_t)(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size,
                                   gmt_handle_t handle);

/* --- where am I (none of these switches; O(1)) -------------------------------------------------------------------- */

uint32_t gmt_node_id(void);     /* from 0 on */
uint32_t gmt_num_nodes(void);   /* in the job */
uint32_t gmt_worker_id(void);   /* from 0 on, in this node; a task stays on its worker */
uint32_t gmt_num_workers(void); /* in this node */
/** A number that no other running task of this node has until the task ends; small numbers first. */
uint32_t gmt_task_id(void);
bool gmt_task_is_non_preemptable(void);

/** The most bytes that a message between nodes has. */
int gmt_get_comm_buffer_size(void);
/** The most bytes of arguments of a task. */
uint32_t gmt_max_args_per_task(void);
/** How many tasks of a worker may wait at once, about: more do where tasks start others and wait for them. */
uint32_t gmt_max_tasks_per_worker(void);
/** The most bytes that an executed function returns. */
uint32_t gmt_max_return_size(void);

/** Seeds the generators of this node's workers: each gives another sequence. */
void gmt_srand(uint64_t seed);
/** A random number of this worker's generator (xoshiro256**), of all 64 bits. */
uint64_t gmt_rand(void);
/** Seconds since some time in the past, the same for all nodes of a machine; it is never set back. */
double gmt_timer(void);

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/** Creates an array of num_elems elements of bytes_per_elem bytes, all zero. Switches. O(nodes) messages.
 * `name`: NULL or "" for none; at most 200 bytes. gmt_attach finds an array by its name. With GMT_ALLOC_SHM, _SSD or
 * _DISK and the option --gmt-state=FOLDER its elements are written to the folder when gmt_main returns.
 * GMT_DATA_NULL, after a message: no elements, no memory, or the name is in use. The _nb form has completed, too. */
gmt_data_t gmt_alloc(uint64_t num_elems, uint64_t bytes_per_elem, alloc_type_t alloc_type, const char* name);
gmt_data_t gmt_alloc_nb(uint64_t num_elems, uint64_t bytes_per_elem, alloc_type_t alloc_type, const char* name);
/** Whether this array exists. Any number may be asked for. Does not switch. */
bool gmt_is_allocated(gmt_data_t array);
/** The array of this name: of this job, or kept in the folder of --gmt-state by another job, also one of another number
 * of nodes; else GMT_DATA_NULL. Switches. */
gmt_data_t gmt_attach(const char* name);
/** Waits for operations in flight, frees the array on all nodes, and removes what the folder of --gmt-state keeps of
 * it. Switches. GMT_DATA_NULL is accepted. */
void gmt_free(gmt_data_t array);
/** A number that no other array has that exists. */
uint32_t gmt_get_gid(gmt_data_t array);
/** The element's memory if it is on this node, else NULL. Valid until the array is freed. The elements behind it, up to
 * the end of this node's block, follow. Plain memory: other tasks may access it, too. */
void* gmt_get_local_ptr(gmt_data_t array, uint64_t elem);
uint64_t gmt_get_elem_bytes(gmt_data_t array);
/** As given to gmt_alloc, flags included. */
alloc_type_t gmt_get_alloc_type(gmt_data_t array);
/** How many elements are on this node. */
uint64_t gmt_count_local_elements(gmt_data_t array);

/* --- elements ----------------------------------------------------------------------------------------------------- */
/* The plain forms are complete when they return, and may switch. The _nb forms switch only when buffers are full, or, on
 * replicated arrays and for gmt_mem_get_nb, when much is outstanding; they are complete after gmt_wait_data, or when the
 * task ends, and have no order among each other until then. What is put is copied before the call returns; where a get
 * or an atomic operation stores must live until the operation is complete.
 * Elements of 1, 2, 4 and 8 bytes do not tear where the local memory is aligned as they are. O(n) bytes. */

void gmt_put(gmt_data_t array, uint64_t elem, const void* src, uint64_t num_elem);
void gmt_put_nb(gmt_data_t array, uint64_t elem, const void* src, uint64_t num_elem);
/** Elements of 1, 2, 4 or 8 bytes get the low bytes of `value`. */
void gmt_put_value(gmt_data_t array, uint64_t elem, uint64_t value);
void gmt_put_value_nb(gmt_data_t array, uint64_t elem, uint64_t value);
void gmt_get(gmt_data_t array, uint64_t elem, void* dst, uint64_t num_elem);
void gmt_get_nb(gmt_data_t array, uint64_t elem, void* dst, uint64_t num_elem);
/** Copies elements between arrays whose elements have the same size. Within one array the ranges may overlap. */
void gmt_memcpy(gmt_data_t src, uint64_t src_elem, gmt_data_t dst, uint64_t dst_elem, uint64_t num_elem);

/** On elements of 1, 2, 4 or 8 bytes, which are signed; sums wrap around. They return the value before; the _nb forms
 * store it in *ret, where ret is not NULL. */
int64_t gmt_atomic_add(gmt_data_t array, uint64_t elem, int64_t value);
void gmt_atomic_add_nb(gmt_data_t array, uint64_t elem, int64_t value, int64_t* ret);
/** Stores `new_value` if the element equals `old_value`. */
int64_t gmt_atomic_cas(gmt_data_t array, uint64_t elem, int64_t old_value, int64_t new_value);
void gmt_atomic_cas_nb(gmt_data_t array, uint64_t elem, int64_t old_value, int64_t new_value, int64_t* ret);

/** Memory of node `node` at an address that is valid there: that node's task has passed it on. A wrong one ends that
 * node. As above: `data` is copied at the call. */
void gmt_mem_put(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t num_bytes);
void gmt_mem_put_nb(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t num_bytes);
void gmt_mem_get(uint32_t node, uint8_t* laddr, const uint8_t* raddr, uint64_t num_bytes);
void gmt_mem_get_nb(uint32_t node, uint8_t* laddr, const uint8_t* raddr, uint64_t num_bytes);
/** Chunk k of chunk_size bytes, which follow each other in `data`, goes to raddr + k * chunk_offset. */
void gmt_mem_strided_put(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t chunk_offset, uint64_t chunk_size,
                         uint64_t num_chunks);
void gmt_mem_strided_put_nb(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t chunk_offset,
                            uint64_t chunk_size, uint64_t num_chunks);

/** Waits until all data operations that this task has begun with _nb forms are complete. Switches. */
void gmt_wait_data(void);

/* --- loops -------------------------------------------------------------------------------------------------------- */
/* A loop runs its iterations as tasks of it_per_task each (the last one of a node's share may have fewer; 0: as many as
 * suit), in any order, on all workers of the nodes that its policy names. `args` is copied, args_bytes long, at most
 * gmt_max_args_per_task(). One message per node.
 * Plain: waits for all its tasks. _nb: is waited for by gmt_wait_for_nb, or by the end of the calling task.
 * _with_handle: is waited for by gmt_wait_handle alone; the calling task may end before. All of them may switch. */

void gmt_for_loop(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                  uint32_t args_bytes, spawn_policy_t policy);
void gmt_for_loop_nb(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                     uint32_t args_bytes, spawn_policy_t policy);
void gmt_for_loop_with_handle(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                              uint32_t args_bytes, spawn_policy_t policy, gmt_handle_t handle);

/** All iterations on `node`. */
void gmt_for_loop_on_node(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                          const void* args, uint32_t args_bytes);
void gmt_for_loop_on_node_nb(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                             const void* args, uint32_t args_bytes);
void gmt_for_loop_on_node_with_handle(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                                      const void* args, uint32_t args_bytes, gmt_handle_t handle);

/** num_elems elements of the array from elems_offset on, each task where its elements are. Those of a replicated array
 * are shared as with GMT_SPAWN_PARTITION_FROM_ZERO. */
void gmt_for_each(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                  gmt_for_each_func_t func, const void* args, uint64_t args_bytes);
void gmt_for_each_nb(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                     gmt_for_each_func_t func, const void* args, uint64_t args_bytes);
void gmt_for_each_with_handle(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                              gmt_for_each_func_t func, const void* args, uint64_t args_bytes, gmt_handle_t handle);

/** Waits for all loops that this task has begun with _nb forms. Switches. */
void gmt_wait_for_nb(void);

/** A new handle, of this node. At most 262143 of a node exist at once. Does not switch. */
gmt_handle_t gmt_get_handle(void);
/** Waits until all tasks of the handle have ended, those that they have started with it included, and ends the handle.
 * Any task of any node that is not of the handle itself, once. Switches. */
void gmt_wait_handle(gmt_handle_t handle);

/* --- calls -------------------------------------------------------------------------------------------------------- */
/* Run func as a task on a node, and bring what it returns to `ret_buf`, which has room for it, and its length to
 * *ret_size; both may be NULL, and must live until the call is waited for. `args`: as of loops.
 * Plain: waits. _nb: gmt_wait_execute_nb, or the end of the task, waits. _with_handle: gmt_wait_handle waits.
 * gmt_try_: false, and nothing was begun, if calls of this node that have not begun there fill the room that the node
 * has for them (setting call_memory). All of them may switch. */

void gmt_execute_on_node(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes, void* ret_buf,
                         uint32_t* ret_size, preempt_policy_t policy);
void gmt_execute_on_node_nb(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                            void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
void gmt_execute_on_node_with_handle(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                     void* ret_buf, uint32_t* ret_size, preempt_policy_t policy, gmt_handle_t handle);
bool gmt_try_execute_on_node(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                             void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
bool gmt_try_execute_on_node_nb(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
bool gmt_try_execute_on_node_with_handle(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                         void* ret_buf, uint32_t* ret_size, preempt_policy_t policy,
                                         gmt_handle_t handle);

/** The same on the node that holds the element (of a replicated array: on this node). */
void gmt_execute_on_data(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                         uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
void gmt_execute_on_data_nb(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                            uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
void gmt_execute_on_data_with_handle(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                     uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy,
                                     gmt_handle_t handle);
bool gmt_try_execute_on_data(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                             uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
bool gmt_try_execute_on_data_nb(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy);
bool gmt_try_execute_on_data_with_handle(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                         uint32_t args_bytes, void* ret_buf, uint32_t* ret_size,
                                         preempt_policy_t policy, gmt_handle_t handle);

/** The same once on every node, without what it returns. */
void gmt_execute_on_all(gmt_execute_func_t func, const void* args, uint32_t args_bytes, preempt_policy_t policy);
void gmt_execute_on_all_nb(gmt_execute_func_t func, const void* args, uint32_t args_bytes, preempt_policy_t policy);
void gmt_execute_on_all_with_handle(gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                    preempt_policy_t policy, gmt_handle_t handle);

/** Waits for all calls that this task has begun with _nb forms. Switches. */
void gmt_wait_execute_nb(void);

/* --- other -------------------------------------------------------------------------------------------------------- */

/** Lets other tasks of this worker run, and serves other nodes. Switches. */
void gmt_yield(void);
/** Prints the calling task's stack on standard error. */
void gmt_print_stack_trace(void);
/** Seconds, and what this node's tasks did per second, since the start or the last reset: 0 prints on standard error, 1
 * prints and resets, -1 resets. */
void gmt_timing(int flag);
/** How many tasks, loops, calls, handles and arrays this node has begun since the start or the last reset; as above. */
void gmt_profile(int flag);

#ifdef __cplusplus
}
/** A policy and its flags. */
inline alloc_type_t operator|(alloc_type_t a, alloc_type_t b) {
  return static_cast<alloc_type_t>(static_cast<int>(a) | static_cast<int>(b));
}
#endif

#endif
