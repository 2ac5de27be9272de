/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C that knows nothing of Shoal when it is linked: it loads libshoal.so, runs a job of two nodes in this
 * process, and checks arrays, a loop and calls. The argument: the path of the library. Exit status 0: all is right. */
#include <dlfcn.h>
#include <inttypes.h>
#include <shoal/core.h>
#include <shoal/core_run.h>
#include <stdio.h>
#include <string.h>

/* What is called, by name. */
static struct {
  __typeof__(&shoal_run) run;
  __typeof__(&shoal_node_id) node_id;
  __typeof__(&shoal_node_count) node_count;
  __typeof__(&shoal_array_create) array_create;
  __typeof__(&shoal_array_free) array_free;
  __typeof__(&shoal_array_describe) array_describe;
  __typeof__(&shoal_access) access;
  __typeof__(&shoal_async_access) async_access;
  __typeof__(&shoal_get_range) get_range;
  __typeof__(&shoal_wait) wait;
  __typeof__(&shoal_completion_create) completion_create;
  __typeof__(&shoal_completion_wait) completion_wait;
  __typeof__(&shoal_completion_free) completion_free;
  __typeof__(&shoal_begin_loop) begin_loop;
  __typeof__(&shoal_begin_call) begin_call;
  __typeof__(&shoal_status_text) status_text;
} shoal;

static int load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
#define FIND(name)                                            \
  do {                                                        \
    void* const found = dlsym(library, "shoal_" #name);       \
    if (found == NULL) {                                      \
      fprintf(stderr, "there is no shoal_%s in it\n", #name); \
      return 0;                                               \
    }                                                         \
    memcpy(&shoal.name, &found, sizeof found);                \
  } while (0)
  FIND(run);
  FIND(node_id);
  FIND(node_count);
  FIND(array_create);
  FIND(array_free);
  FIND(array_describe);
  FIND(access);
  FIND(async_access);
  FIND(get_range);
  FIND(wait);
  FIND(completion_create);
  FIND(completion_wait);
  FIND(completion_free);
  FIND(begin_loop);
  FIND(begin_call);
  FIND(status_text);
#undef FIND
  return 1;
}

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "main.c:%d: this is wrong: %s\n", __LINE__, #condition); \
      return 1;                                                                \
    }                                                                          \
  } while (0)
/* Of a call that must succeed. */
#define DO(call)                                                                                                   \
  do {                                                                                                             \
    if ((call) != SHOAL_OK) {                                                                                      \
      fprintf(stderr, "main.c:%d: %s: %s: %s\n", __LINE__, #call, shoal.status_text(error.status), error.message); \
      return 1;                                                                                                    \
    }                                                                                                              \
  } while (0)

enum { k_elements = 10000 };

/* The body of a loop: adds its index to each element. */
static void add_index(uint64_t first, uint64_t count, const void* arguments, size_t bytes) {
  shoal_array array;
  if (bytes != sizeof array) return; /* the sum will be wrong */
  memcpy(&array, arguments, sizeof array);
  for (uint64_t i = first; i < first + count; ++i)
    shoal.async_access(SHOAL_ADD, SHOAL_I64, array, i, &i, NULL, NULL, NULL);
}

/* What a call does: squares a number, and says where. */
struct square {
  uint64_t value;
  uint32_t node;
};
static size_t square(uint32_t from, const void* arguments, size_t bytes, void* answer, size_t room) {
  struct square result = {0, shoal.node_id()};
  (void)from;
  if (bytes != sizeof result.value || room < sizeof result) return 0;
  memcpy(&result.value, arguments, bytes);
  result.value *= result.value;
  memcpy(answer, &result, sizeof result);
  return sizeof result;
}

static int check_verbs(shoal_array array) {
  shoal_error error;
  int64_t value = 5, wanted = 8, before = 0, later = 0;
  for (uint64_t i = 0; i < k_elements; i += k_elements - 1) { /* one on each node */
    value = 5;
    DO(shoal.access(SHOAL_PUT, SHOAL_I64, array, i, &value, NULL, NULL, &error));
    value = 3;
    DO(shoal.access(SHOAL_FETCH_ADD, SHOAL_I64, array, i, &value, NULL, &before, &error));
    CHECK(before == 5);
    value = -2;
    DO(shoal.access(SHOAL_COMPARE_EXCHANGE, SHOAL_I64, array, i, &wanted, &value, &before, &error));
    CHECK(before == 8);
    value = -7;
    DO(shoal.access(SHOAL_MIN, SHOAL_I64, array, i, &value, NULL, NULL, &error));
    DO(shoal.async_access(SHOAL_GET, SHOAL_I64, array, i, NULL, NULL, &later, &error));
    DO(shoal.wait(&error));
    CHECK(later == -7);
    value = 0;
    DO(shoal.access(SHOAL_EXCHANGE, SHOAL_I64, array, i, &value, NULL, &before, &error));
    CHECK(before == -7);
  }
  CHECK(shoal.access(SHOAL_GET, SHOAL_I64, array, k_elements, NULL, NULL, &value, &error) == SHOAL_OUT_OF_RANGE);
  CHECK(error.status == SHOAL_OUT_OF_RANGE && strstr(error.message, "out of the range") != NULL);
  return 0;
}

static int check_loop_and_calls(shoal_array array) {
  static int64_t got[k_elements];
  shoal_error error;
  shoal_completion* completion;
  DO(shoal.completion_create(&completion, &error));
  const shoal_loop loop = {.body = add_index, .arguments = &array, .argument_bytes = sizeof array, .end = k_elements};
  DO(shoal.begin_loop(&loop, completion, &error));
  DO(shoal.begin_loop(&loop, completion, &error));
  DO(shoal.completion_wait(completion, &error));
  DO(shoal.get_range(array, 0, k_elements, got, &error));
  for (int64_t i = 0; i < k_elements; ++i) CHECK(got[i] == 2 * i);

  struct square squares[2];
  size_t answered[2];
  const uint64_t numbers[2] = {12, 1000001};
  for (uint32_t n = 0; n < 2; ++n) {
    const shoal_call call = {.body = square,
                             .arguments = &numbers[n],
                             .argument_bytes = sizeof numbers[n],
                             .answer = &squares[n],
                             .room = sizeof squares[n],
                             .answered = &answered[n]};
    DO(shoal.begin_call(n, &call, completion, &error));
  }
  DO(shoal.completion_wait(completion, &error));
  for (uint32_t n = 0; n < 2; ++n) {
    CHECK(answered[n] == sizeof squares[n]);
    CHECK(squares[n].node == n && squares[n].value == numbers[n] * numbers[n]);
  }
  shoal.completion_free(completion);
  return 0;
}

static int main_task(void* argument) {
  shoal_error error;
  shoal_array array;
  shoal_array_info info;
  *(int*)argument = 1; /* it ran */
  CHECK(shoal.node_count() == 2);
  DO(shoal.array_create(SHOAL_I64, 0, k_elements, SHOAL_PARTITION, &array, &error));
  DO(shoal.array_describe(array, &info, &error));
  CHECK(info.size == k_elements && info.element_bytes == 8 && info.type == SHOAL_I64);
  if (check_verbs(array) != 0 || check_loop_and_calls(array) != 0) return 1;
  DO(shoal.array_free(array, &error));
  CHECK(shoal.array_describe(array, &info, &error) == SHOAL_NO_ARRAY);
  return 0;
}

int main(int argc, char** argv) {
  char program[] = "core_program", nodes[] = "--shoal-nodes=2", workers[] = "--shoal-workers=2";
  char* arguments[] = {program, nodes, workers, NULL};
  int count = 3, ran = 0;
  if (argc != 2 || !load(argv[1])) return 1;
  const int status = shoal.run(&count, arguments, main_task, &ran);
  if (status == 0 && ran == 1 && count == 1) puts("the untyped core works from C");
  return status != 0 || ran != 1 || count != 1;
}
