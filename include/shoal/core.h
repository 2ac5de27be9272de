/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of Shoal: global arrays, loops over nodes and calls on nodes, for C and for every language that can
 * call C. Types are run-time values here; the templates of shoal/shoal.hpp are faster where they are constants.
 * Who may call: tasks, that is the main task (shoal/core_run.h) and what loops and calls start from it. Each function
 * says whether it may switch tasks; a task stays on its thread.
 * Errors: functions that can fail return SHOAL_OK (0) or another shoal_status, and describe it in `error`, which may be
 * NULL. What is refused has no effect. Outside tasks of a job they return SHOAL_NO_JOB.
 * Example: tests/install/core_program/main.c. Shown by that program and by tests/cluster/core_test.cpp.
 */
#ifndef SHOAL_CORE_H
#define SHOAL_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors ------------------------------------------------------------------------------------------------------- */

/** The results of functions. Those up to SHOAL_INTERNAL are the codes of shoal::errc. */
enum shoal_status {
  SHOAL_OK = 0,
  SHOAL_INVALID_ARGUMENT = 1, /* an argument is not acceptable */
  SHOAL_BAD_INPUT = 2,
  SHOAL_OUT_OF_MEMORY = 3, /* more was asked for than the machine has */
  SHOAL_SYSTEM = 4,        /* the operating system refused */
  SHOAL_NOT_FOUND = 5,
  SHOAL_MISMATCH = 6,
  SHOAL_PEER_LOST = 7,   /* another node of the job has ended */
  SHOAL_UNSUPPORTED = 8, /* this build cannot do it; or a node has not loaded a function's library */
  SHOAL_EXHAUSTED = 9,   /* a bound is reached, for instance that of arrays */
  SHOAL_TIMEOUT = 10,
  SHOAL_REMOTE = 11, /* an exception was thrown where a loop or call ran */
  SHOAL_STOPPED = 12,
  SHOAL_DEADLOCK = 13,
  SHOAL_ABANDONED = 14,
  SHOAL_INTERNAL = 15,
  SHOAL_NO_JOB = 32,       /* the caller is no task of a job */
  SHOAL_NO_ARRAY = 33,     /* no array has this id, or it was freed */
  SHOAL_OUT_OF_RANGE = 34, /* the array does not have all of these elements */
  SHOAL_WRONG_TYPE = 35,   /* the array's elements have another type or size */
  SHOAL_NO_SUCH_VERB = 36, /* the element type does not have this verb, or there is no such verb or type */
  SHOAL_NO_OPERAND = 37,   /* a pointer that is needed is NULL */
  SHOAL_UNALIGNED = 38     /* a pointer is not aligned as the elements */
};

/** What a failed function says. It belongs to the caller; a function that succeeds does not write to it. */
typedef struct shoal_error {
  int status;        /* as returned */
  uint32_t node;     /* where it happened */
  char message[240]; /* ended by 0; of a longer message the middle is left out, marked by [...] */
} shoal_error;

/** The name of a status, as in "out_of_range"; "unknown" for other numbers. Any thread; does not switch. O(1). */
const char* shoal_status_text(int status);

/* --- nodes and tasks ---------------------------------------------------------------------------------------------- */

/** The node that this task runs on, from 0 on. Does not switch. Outside tasks of a job: 0. O(1). */
uint32_t shoal_node_id(void);
/** The number of nodes of the job. Does not switch. Outside tasks of a job: 0. O(1). */
uint32_t shoal_node_count(void);
/** The worker of this node that this task runs on, from 0 on. Does not switch. Outside tasks of a job: 0. O(1). */
uint32_t shoal_worker_id(void);
/** The number of workers of this node. Does not switch. Outside tasks of a job: 0. O(1). */
uint32_t shoal_worker_count(void);
/** Lets other runnable tasks of this worker run, and serves messages. May switch. */
int shoal_yield(shoal_error* error);

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/** Names a global array on all nodes: a plain value, which arguments of loops and calls may hold. 0 names none. */
typedef uint64_t shoal_array;

/** Types of elements. SHOAL_BYTES: elements of any size; accesses with this type can only put and get. */
enum shoal_type {
  SHOAL_U8,
  SHOAL_U16,
  SHOAL_U32,
  SHOAL_U64,
  SHOAL_I8,
  SHOAL_I16,
  SHOAL_I32,
  SHOAL_I64,
  SHOAL_F32,
  SHOAL_F64,
  SHOAL_BYTES
};

/** How the elements are spread over the nodes. */
enum shoal_distribution {
  SHOAL_PARTITION,     /* contiguous blocks on all nodes, equal but for one element */
  SHOAL_LOCAL,         /* all on the node that creates the array */
  SHOAL_REMOTE_BLOCKS, /* equal contiguous blocks on all nodes but the one that creates the array */
  SHOAL_CYCLIC,        /* element i on node i mod n */
  SHOAL_BLOCK_CYCLIC,  /* blocks of equal length, block k on node k mod n: see shoal_spread */
  SHOAL_BLOCKS,        /* one contiguous block per node, with boundaries of your choice: see shoal_spread */
  SHOAL_OWNED          /* blocks of equal length on nodes of the program's choice: made in C++ only */
};

/** Creates an array of `size` elements, all zero, on all nodes. May switch.
 * `element_bytes`: the size of SHOAL_BYTES elements, at least 1; of other types 0 or their size. `size`: at least 1.
 * `*array` becomes the array's id. The array is the caller's: free it with shoal_array_free before the job ends.
 * Errors: SHOAL_OUT_OF_MEMORY, SHOAL_EXHAUSTED, SHOAL_INVALID_ARGUMENT. O(nodes) messages.
 *   shoal_array a;
 *   if (shoal_array_create(SHOAL_U64, 0, 1000000, SHOAL_PARTITION, &a, &error)) puts(error.message); */
int shoal_array_create(int type, size_t element_bytes, uint64_t size, int distribution, shoal_array* array,
                       shoal_error* error);
/** How the elements are spread over the nodes, in full. What a distribution does not use is 0. */
typedef struct shoal_spread {
  int distribution;       /* enum shoal_distribution */
  uint32_t start;         /* the node of the first part; not of SHOAL_LOCAL and SHOAL_REMOTE_BLOCKS */
  uint64_t block;         /* SHOAL_BLOCK_CYCLIC: elements per block, at least 1 */
  const uint64_t* bounds; /* SHOAL_BLOCKS: part p is [bounds[p], bounds[p + 1]); from 0 to `size`; read at once */
  uint32_t parts;         /* SHOAL_BLOCKS: there are parts + 1 bounds; at most one part per node */
} shoal_spread;

/** As shoal_array_create, with all that can be said of a distribution. Errors also: SHOAL_NO_OPERAND. May switch.
 *   shoal_spread spread = {.distribution = SHOAL_BLOCK_CYCLIC, .block = 1024};
 *   if (shoal_array_create_spread(SHOAL_U64, 0, 1000000, &spread, &a, &error)) puts(error.message); */
int shoal_array_create_spread(int type, size_t element_bytes, uint64_t size, const shoal_spread* spread,
                              shoal_array* array, shoal_error* error);
/** Waits until all operations in flight on an array are executed, then frees it on all nodes. May switch. Then its id
 * names no array. Freeing while another task uses the array is misuse that may go unnoticed. Errors: SHOAL_NO_ARRAY. */
int shoal_array_free(shoal_array array, shoal_error* error);

/** What an array is. */
typedef struct shoal_array_info {
  uint64_t size;        /* elements */
  size_t element_bytes; /* the size of one */
  int type;             /* enum shoal_type */
  int distribution;     /* enum shoal_distribution; a SHOAL_REMOTE_BLOCKS array of a job of one node is SHOAL_LOCAL */
} shoal_array_info;

/** Describes an array in `*info`. Does not switch. Errors: SHOAL_NO_ARRAY. O(1), no messages. */
int shoal_array_describe(shoal_array array, shoal_array_info* info, shoal_error* error);
/** The node that holds an element. Does not switch. Errors: SHOAL_NO_ARRAY, SHOAL_OUT_OF_RANGE. O(1), no messages. */
int shoal_array_owner(shoal_array array, uint64_t index, uint32_t* node, shoal_error* error);

/** The elements that this node holds: their memory, and their indices. These are in runs of `run`, one behind the other;
 * a run is `stride` behind the one before: element k has the index first + k / run * stride + k % run. */
typedef struct shoal_part {
  void* elements; /* plain memory of the array, which other tasks may access too; valid until the array is freed */
  uint64_t first;
  uint64_t count;
  uint64_t stride;
  uint64_t run; /* 1 but for SHOAL_BLOCK_CYCLIC */
} shoal_part;

/** This node's part of an array. Does not switch. Errors: SHOAL_NO_ARRAY; of a SHOAL_OWNED array, whose parts are not
 * regular, SHOAL_INVALID_ARGUMENT. O(1), no messages. */
int shoal_array_local(shoal_array array, shoal_part* part, shoal_error* error);

/* --- elements ----------------------------------------------------------------------------------------------------- */

/** What is done to an element. All are atomic with respect to each other on elements of 1, 2, 4 and 8 bytes. Integers
 * wrap around. SHOAL_F32 and SHOAL_F64 do not have the bit operations. */
enum shoal_verb {
  SHOAL_PUT,
  SHOAL_GET,
  SHOAL_ADD,
  SHOAL_FETCH_ADD,
  SHOAL_MIN,
  SHOAL_FETCH_MIN,
  SHOAL_MAX,
  SHOAL_FETCH_MAX,
  SHOAL_AND,
  SHOAL_FETCH_AND,
  SHOAL_OR,
  SHOAL_FETCH_OR,
  SHOAL_EXCHANGE,
  SHOAL_COMPARE_EXCHANGE,
  SHOAL_XOR,
  SHOAL_FETCH_XOR
};

/** Executes `verb` on one element, and returns when it is complete. If this process does not map the element: switches,
 * sends 8 to 24 bytes, gets a reply. `type`: the array's element type; for SHOAL_BYTES also any type of the same size.
 * `operand`: one element, read before the function returns; not used by SHOAL_GET. For SHOAL_COMPARE_EXCHANGE it is the
 * expected value, and `desired` is stored if the element equals it. `desired`: not used by other verbs.
 * `result`: receives the element's previous value, for SHOAL_GET, the SHOAL_FETCH_ verbs and both exchanges only.
 * Errors: SHOAL_NO_ARRAY, SHOAL_OUT_OF_RANGE, SHOAL_WRONG_TYPE, SHOAL_NO_SUCH_VERB, SHOAL_NO_OPERAND. O(1).
 *   uint64_t one = 1, before;
 *   shoal_access(SHOAL_FETCH_ADD, SHOAL_U64, counters, 7, &one, NULL, &before, &error); */
int shoal_access(int verb, int type, shoal_array array, uint64_t index, const void* operand, const void* desired,
                 void* result, shoal_error* error);
/** Begins the same. It is complete after shoal_wait, or when the task or the whole loop has ended. Switches only
 * when buffers are full. `operand` and `desired` are read before the function returns. `result` must live until the
 * operation is complete, is undefined until then, and must be aligned as the element (else SHOAL_UNALIGNED). Such
 * operations have no order among each other. Errors as above. */
int shoal_async_access(int verb, int type, shoal_array array, uint64_t index, const void* operand, const void* desired,
                       void* result, shoal_error* error);

/** Copies `count` elements, from element `first` on, to `target` or from `values`, and returns when that is complete.
 * May switch. Elements of 2, 4 or 8 bytes do not tear; the memory must have their alignment (else SHOAL_UNALIGNED).
 * Errors: SHOAL_NO_ARRAY, SHOAL_OUT_OF_RANGE, SHOAL_NO_OPERAND, SHOAL_UNALIGNED. O(count) bytes. */
int shoal_get_range(shoal_array array, uint64_t first, uint64_t count, void* target, shoal_error* error);
int shoal_put_range(shoal_array array, uint64_t first, uint64_t count, const void* values, shoal_error* error);
/** Begin the same; complete after shoal_wait, or when the task or whole loop has ended. May switch if buffers are full.
 * `target` must live until then. `values` are copied before the function returns. Errors as above. */
int shoal_async_get_range(shoal_array array, uint64_t first, uint64_t count, void* target, shoal_error* error);
int shoal_async_put_range(shoal_array array, uint64_t first, uint64_t count, const void* values, shoal_error* error);
/** Sets every element to `*value`. Switches. Elements of at most 8 KiB, else SHOAL_WRONG_TYPE. Each node fills its own
 * part. Errors also: SHOAL_NO_ARRAY, SHOAL_NO_OPERAND. */
int shoal_fill(shoal_array array, const void* value, shoal_error* error);
/** `values[k]` = element `indices[k]`, and the reverse, for `count` elements; returns when that is complete. May switch.
 * The fastest way to many single elements. Of several values for one element, any remains. `values`: as of
 * shoal_get_range. Errors: SHOAL_NO_ARRAY, SHOAL_OUT_OF_RANGE, SHOAL_NO_OPERAND, SHOAL_UNALIGNED; then nothing is done. */
int shoal_gather(shoal_array array, const uint64_t* indices, uint64_t count, void* values, shoal_error* error);
int shoal_scatter(shoal_array array, const uint64_t* indices, uint64_t count, const void* values, shoal_error* error);
/** Copies `count` elements of `from` to `to`, whose elements have the same size; the ranges must not overlap. Switches.
 * Each node sends what it holds. Errors: SHOAL_NO_ARRAY, SHOAL_OUT_OF_RANGE, SHOAL_WRONG_TYPE. */
int shoal_copy(shoal_array to, uint64_t to_first, shoal_array from, uint64_t from_first, uint64_t count,
               shoal_error* error);
/** Waits until all that this task has begun with shoal_async_ functions is complete. May switch. */
int shoal_wait(shoal_error* error);
/** Sends what is buffered on this worker; waits for nothing. Does not switch. */
int shoal_flush(shoal_error* error);

/* --- loops and calls ---------------------------------------------------------------------------------------------- */

/** Counts loops and calls that have begun, until somebody waits for them. One task uses it at a time. */
typedef struct shoal_completion shoal_completion;

/** Creates a completion that counts nothing yet. It is the caller's: free it with shoal_completion_free. Does not
 * switch. Errors: SHOAL_OUT_OF_MEMORY. */
int shoal_completion_create(shoal_completion** completion, shoal_error* error);
/** Waits until all that was begun with `completion` has ended; then it can be used again. Switches. Returns the first
 * failure that arrived: SHOAL_REMOTE, or the code of a shoal::error that was thrown there. */
int shoal_completion_wait(shoal_completion* completion, shoal_error* error);
/** Waits, ignoring failures, and frees the completion. Switches. NULL is accepted. */
void shoal_completion_free(shoal_completion* completion);

/** The longest arguments, and the longest answer, of a loop or call. */
#define SHOAL_MOST_ARGUMENT_BYTES 11264

/** A part of a loop: the iterations first, first + 1 ... first + count - 1. `arguments`: a copy of the caller's,
 * aligned to 8 bytes, valid until the function returns. It may call everything that tasks may call. */
typedef void (*shoal_loop_body)(uint64_t first, uint64_t count, const void* arguments, size_t bytes);

/** Where the iterations of a loop run. */
enum shoal_place {
  SHOAL_EVERYWHERE, /* equal shares on all nodes */
  SHOAL_HERE,       /* on this node */
  SHOAL_ELSEWHERE,  /* equal shares on all nodes but this one; SHOAL_INVALID_ARGUMENT if there is no other node */
  SHOAL_OWNERS      /* iteration i where element i of `owners` is, one iteration per call if that is cyclic */
};

/** A loop: what runs, over which iterations, and where. */
typedef struct shoal_loop {
  shoal_loop_body body;  /* a function of an image that every node has loaded */
  const void* arguments; /* copied before shoal_begin_loop returns; no pointers into this process */
  size_t argument_bytes; /* at most SHOAL_MOST_ARGUMENT_BYTES */
  uint64_t first;        /* iterations first ... end - 1; none if end <= first */
  uint64_t end;
  uint64_t grain; /* maximum iterations per call of the body; 0: automatic; 1 if iterations wait: many can wait then */
  int place;      /* enum shoal_place */
  shoal_array owners; /* for SHOAL_OWNERS */
} shoal_loop;

/** Begins a loop: calls its body for disjoint parts of the range, in any order, at the same time on many workers. What
 * the body began asynchronously is complete when the loop has ended. May switch when buffers are full.
 * Errors: SHOAL_INVALID_ARGUMENT (no body, arguments too long, no such place), SHOAL_NO_OPERAND, SHOAL_NO_ARRAY,
 * SHOAL_OUT_OF_RANGE (`end` is behind the owners' last element), SHOAL_UNSUPPORTED. One message per node.
 *   shoal_loop loop = {.body = count, .arguments = &array, .argument_bytes = sizeof array, .end = 1000000};
 *   if (!shoal_begin_loop(&loop, completion, &error)) shoal_completion_wait(completion, &error); */
int shoal_begin_loop(const shoal_loop* loop, shoal_completion* completion, shoal_error* error);

/** What runs on a node: reads `arguments` (aligned to 8 bytes, valid until it returns), writes at most `room` bytes to
 * `answer`, which is aligned to 8 bytes, and returns how many. `from`: the calling node. It may call everything that
 * tasks may call. */
typedef size_t (*shoal_call_body)(uint32_t from, const void* arguments, size_t bytes, void* answer, size_t room);

/** A call: what runs, and where its answer goes. */
typedef struct shoal_call {
  shoal_call_body body;  /* a function of an image that every node has loaded */
  const void* arguments; /* copied before shoal_begin_call returns; no pointers into this process */
  size_t argument_bytes; /* at most SHOAL_MOST_ARGUMENT_BYTES */
  void* answer;          /* written by shoal_completion_wait; must live until then; NULL if room is 0 */
  size_t room;           /* bytes for the answer, at most SHOAL_MOST_ARGUMENT_BYTES */
  size_t* answered;      /* if not NULL: how many bytes the answer has; as `answer` */
} shoal_call;

/** Begins a call on `node`, which may be this one. The body runs as a task there. May switch when buffers are full.
 * Errors: SHOAL_INVALID_ARGUMENT (no body, no such node, too many bytes), SHOAL_NO_OPERAND, SHOAL_UNSUPPORTED. If the
 * body returns more than `room`, shoal_completion_wait returns SHOAL_INVALID_ARGUMENT. Two messages. */
int shoal_begin_call(uint32_t node, const shoal_call* call, shoal_completion* completion, shoal_error* error);

#ifdef __cplusplus
}
#endif

#endif
