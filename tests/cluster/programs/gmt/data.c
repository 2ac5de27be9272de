/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of gmt.h about arrays, elements and memory by address, in C and (compiled once more) in C++. */
#include <gmt/gmt.h>
#include <string.h>

#include "check.h"

static alloc_type_t with(alloc_type_t policy, int flags) { return (alloc_type_t)((int)policy | flags); }

static const alloc_type_t policies[] = {GMT_ALLOC_LOCAL,
                                        GMT_ALLOC_PARTITION_FROM_ZERO,
                                        GMT_ALLOC_PARTITION_FROM_RANDOM,
                                        GMT_ALLOC_PARTITION_FROM_HERE,
                                        GMT_ALLOC_REMOTE,
                                        GMT_ALLOC_REPLICATE,
                                        GMT_ALLOC_PERNODE};
enum { k_policies = sizeof policies / sizeof policies[0] };

/* A loop over the nodes: what each says of the array. */
typedef struct {
  gmt_data_t array;
  gmt_data_t counts; /* of local elements, by node */
  uint64_t size;
} asked;

static void count_local(uint64_t start_it, uint64_t num_it, const void* args, gmt_handle_t handle) {
  const asked* a = (const asked*)args;
  CHECK(handle == GMT_HANDLE_NULL && num_it == 1);
  uint64_t local = 0;
  for (uint64_t e = 0; e < a->size; ++e) {
    const uint32_t* at = (const uint32_t*)gmt_get_local_ptr(a->array, e);
    if (at == NULL) continue;
    ++local;
    CHECK(*at == 7 * e + 1);
  }
  CHECK(gmt_get_alloc_type(a->array) % 8 != GMT_ALLOC_REPLICATE || local == a->size);
  CHECK(gmt_count_local_elements(a->array) == local);
  gmt_put_value(a->counts, gmt_node_id(), local);
  (void)start_it;
}

static void test_policies(void) {
  const uint32_t nodes = gmt_num_nodes();
  for (int p = 0; p < k_policies; ++p) {
    const alloc_type_t type = with(policies[p], GMT_ALLOC_ZERO);
    const uint64_t n = 101;
    const uint64_t size = policies[p] == GMT_ALLOC_PERNODE ? n * nodes : n;
    asked a = {gmt_alloc(n, sizeof(uint32_t), type, NULL), gmt_alloc(nodes, sizeof(uint64_t), GMT_ALLOC_LOCAL, ""),
               size};
    CHECK(a.array != GMT_DATA_NULL && gmt_is_allocated(a.array));
    CHECK(gmt_get_alloc_type(a.array) == type);
    CHECK(gmt_get_elem_bytes(a.array) == sizeof(uint32_t));
    CHECK(gmt_get_gid(a.array) != gmt_get_gid(a.counts));
    for (uint64_t e = 0; e < size; ++e) {
      uint32_t value = 99;
      gmt_get(a.array, e, &value, 1);
      CHECK(value == 0);
      gmt_put_value_nb(a.array, e, 7 * e + 1);
    }
    gmt_wait_data();
    gmt_for_loop(nodes, 1, count_local, &a, sizeof a, GMT_SPAWN_SPREAD);
    uint64_t sum = 0;
    for (uint32_t node = 0; node < nodes; ++node) {
      uint64_t local = 0;
      gmt_get(a.counts, node, &local, 1);
      sum += local;
      if (policies[p] == GMT_ALLOC_LOCAL) CHECK(local == (node == 0 ? n : 0));
      if (policies[p] == GMT_ALLOC_REMOTE && nodes > 1) CHECK((local == 0) == (node == 0));
      if (policies[p] == GMT_ALLOC_PERNODE) CHECK(local == n);
      if (policies[p] == GMT_ALLOC_PARTITION_FROM_ZERO) CHECK(local == n / nodes + (node < n % nodes ? 1 : 0));
    }
    CHECK(sum == (policies[p] == GMT_ALLOC_REPLICATE ? n * nodes : size));
    gmt_free(a.counts);
    gmt_free(a.array);
    CHECK(!gmt_is_allocated(a.array));
  }
  CHECK(!gmt_is_allocated(GMT_DATA_NULL) && !gmt_is_allocated(0) && !gmt_is_allocated(12345));
  CHECK(gmt_alloc(0, 8, GMT_ALLOC_LOCAL, NULL) == GMT_DATA_NULL);
  CHECK(gmt_alloc(UINT64_C(1) << 50, 8, GMT_ALLOC_LOCAL, NULL) == GMT_DATA_NULL);
  gmt_free(GMT_DATA_NULL);
}

static void test_elements(void) {
  for (int p = 0; p < k_policies; ++p) {
    enum { k_size = 5000 };
    typedef struct {
      uint8_t bytes[12];
    } wide;
    const gmt_data_t words = gmt_alloc_nb(k_size, sizeof(uint64_t), policies[p], NULL);
    const gmt_data_t others = gmt_alloc(k_size, sizeof(uint64_t), policies[p], NULL);
    const gmt_data_t wides = gmt_alloc(100, sizeof(wide), policies[p], NULL);
    gmt_wait_data();
    static uint64_t from[k_size], to[k_size];
    for (uint64_t i = 0; i < k_size; ++i) from[i] = i * i;
    gmt_put(words, 10, from + 10, k_size - 10);
    gmt_put(words, 3, from + 3, 1);
    gmt_put_nb(words, 0, from, 3);
    gmt_put_nb(words, 4, from + 4, 1);
    gmt_put_value(words, 5, 25);
    gmt_put_value_nb(words, 6, 36);
    gmt_put_nb(words, 7, from + 7, 3);
    gmt_put(words, 0, from, 0);
    gmt_wait_data();
    gmt_get(words, 0, to, k_size);
    CHECK(memcmp(from, to, sizeof from) == 0);
    memset(to, 0, sizeof to);
    for (uint64_t i = 0; i < k_size; i += 2) gmt_get_nb(words, i, &to[i], 1);
    gmt_get_nb(words, 1, &to[1], 1);
    gmt_wait_data();
    for (uint64_t i = 0; i < k_size; i += 2) CHECK(to[i] == i * i);
    CHECK(to[1] == 1);
    gmt_memcpy(words, 100, others, 2000, 1000);
    gmt_get_nb(others, 2000, to, 1000);
    gmt_wait_data();
    CHECK(memcmp(from + 100, to, 1000 * sizeof to[0]) == 0);
    gmt_memcpy(others, 2000, others, 2005, 900); /* overlaps */
    gmt_get(others, 2005, to, 900);
    CHECK(memcmp(from + 100, to, 900 * sizeof to[0]) == 0);
    /* Elements of other sizes; memory of the program that is not aligned as they are. */
    uint8_t buffer[100 * sizeof(wide) + 1];
    for (size_t i = 0; i < sizeof buffer; ++i) buffer[i] = (uint8_t)i;
    gmt_put(wides, 0, buffer + 1, 100);
    wide one;
    gmt_get(wides, 42, &one, 1);
    CHECK(memcmp(&one, buffer + 1 + 42 * sizeof one, sizeof one) == 0);
    gmt_get(words, 77, buffer + 1, 5);
    CHECK(memcmp(buffer + 1, from + 77, 40) == 0);
    gmt_get_nb(words, 78, buffer + 1, 1);
    gmt_wait_data();
    CHECK(memcmp(buffer + 1, from + 78, 8) == 0);
    gmt_put(words, 79, buffer + 1, 1);
    gmt_get(words, 79, to, 1);
    CHECK(to[0] == 78 * 78);
    gmt_free(words);
    gmt_free(others);
    gmt_free(wides);
  }
}

static void test_atomics(void) {
  for (int p = 0; p < k_policies; ++p)
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
      const gmt_data_t a = gmt_alloc(10, bytes, policies[p], NULL);
      const uint64_t e = 9;
      CHECK(gmt_atomic_add(a, e, 5) == 0);
      CHECK(gmt_atomic_add(a, e, -7) == 5);
      CHECK(gmt_atomic_add(a, e, 0) == -2);
      CHECK(gmt_atomic_cas(a, e, -2, -1) == -2);
      CHECK(gmt_atomic_cas(a, e, 3, 4) == -1);
      int64_t before[3] = {0, 0, 0};
      gmt_atomic_add_nb(a, e, -1, &before[0]);
      gmt_wait_data();
      CHECK(before[0] == -1);
      gmt_atomic_add_nb(a, e, 1, NULL);
      gmt_atomic_cas_nb(a, 3, 0, 100, &before[1]);
      gmt_atomic_cas_nb(a, 4, 0, 101, NULL);
      gmt_wait_data();
      gmt_atomic_cas_nb(a, e, 55, 100, &before[2]);
      gmt_wait_data();
      CHECK(before[1] == 0 && before[2] == -1);
      CHECK(gmt_atomic_add(a, 3, 0) == 100 && gmt_atomic_add(a, 4, 0) == 101);
      gmt_put_value(a, 0, UINT64_C(0x8182838485868788));
      uint64_t low = 0;
      gmt_get(a, 0, &low, 1);
      CHECK(low ==
            (bytes == 8 ? UINT64_C(0x8182838485868788) : UINT64_C(0x8182838485868788) % (UINT64_C(1) << 8 * bytes)));
      gmt_free(a);
    }
}

/* --- memory by address --- */

enum { k_raw = 40000 };
typedef struct {
  uint64_t address;
} place;

static void make_memory(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  place made = {(uint64_t)(uintptr_t)calloc(1, k_raw)};
  memcpy(ret, &made, sizeof made);
  *ret_size = sizeof made;
  (void)args, (void)args_size, (void)handle;
}

static void free_memory(const void* args, uint32_t args_size, void* ret, uint32_t* ret_size, gmt_handle_t handle) {
  CHECK(args_size == sizeof(place));
  free((void*)(uintptr_t)((const place*)args)->address);
  (void)ret, (void)ret_size, (void)handle;
}

static void test_raw_memory(void) {
  static uint8_t from[k_raw], to[k_raw];
  for (uint32_t node = 0; node < gmt_num_nodes(); ++node) {
    for (size_t i = 0; i < k_raw; ++i) from[i] = (uint8_t)(i * 31 + node);
    place there = {0};
    uint32_t size = 0;
    gmt_execute_on_node(node, make_memory, NULL, 0, &there, &size, GMT_PREEMPTABLE);
    CHECK(size == sizeof there && there.address != 0);
    uint8_t* const at = (uint8_t*)(uintptr_t)there.address;
    gmt_mem_put(node, at, from, k_raw);
    gmt_mem_get(node, to, at, k_raw);
    CHECK(memcmp(from, to, k_raw) == 0);
    gmt_mem_put_nb(node, at + 1, from, 1001);
    gmt_wait_data();
    memset(to, 0, k_raw);
    gmt_mem_get_nb(node, to, at + 1, 1001);
    gmt_mem_get_nb(node, to + 20001, at + 20001, 9000);
    gmt_wait_data();
    CHECK(memcmp(from, to, 1001) == 0 && memcmp(from + 20001, to + 20001, 9000) == 0);
    /* Chunks of 7 bytes, 16 apart; and some longer than a message. */
    gmt_mem_strided_put(node, at, from, 16, 7, 2000);
    gmt_mem_get(node, to, at, k_raw);
    for (size_t k = 0; k < 2000; ++k) CHECK(memcmp(to + 16 * k, from + 7 * k, 7) == 0);
    gmt_mem_put(node, at, from, k_raw);
    gmt_mem_strided_put_nb(node, at, from, 13000, 12000, 3);
    gmt_wait_data();
    gmt_mem_get(node, to, at, k_raw);
    for (size_t k = 0; k < 3; ++k) {
      CHECK(memcmp(to + 13000 * k, from + 12000 * k, 12000) == 0);
      if (k < 2) CHECK(memcmp(to + 13000 * k + 12000, from + 13000 * k + 12000, 1000) == 0); /* between the chunks */
    }
    gmt_mem_put(node, at, from, 0);
    gmt_mem_strided_put(node, at, from, 16, 0, 5);
    gmt_execute_on_node(node, free_memory, &there, sizeof there, NULL, NULL, GMT_PREEMPTABLE);
  }
}

static void test_names(void) {
  const gmt_data_t a = gmt_alloc(10, 8, GMT_ALLOC_PARTITION_FROM_ZERO, "first");
  const gmt_data_t b = gmt_alloc(10, 4, with(GMT_ALLOC_REPLICATE, GMT_ALLOC_SHM), "second / name");
  CHECK(gmt_attach("first") == a && gmt_attach("second / name") == b);
  CHECK(gmt_attach("third") == GMT_DATA_NULL && gmt_attach("") == GMT_DATA_NULL && gmt_attach(NULL) == GMT_DATA_NULL);
  CHECK(gmt_alloc(10, 8, GMT_ALLOC_LOCAL, "first") == GMT_DATA_NULL);
  gmt_free(a);
  CHECK(gmt_attach("first") == GMT_DATA_NULL && gmt_attach("second / name") == b);
  gmt_free(b);
}

int gmt_main(uint64_t argc, char* argv[]) {
  CHECK(argc == 2 && strcmp(argv[1], "own") == 0 && argv[2] == NULL);
  test_policies();
  test_elements();
  test_atomics();
  test_raw_memory();
  test_names();
  puts("data ok");
  return 0;
}
