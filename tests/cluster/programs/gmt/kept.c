/* SPDX-License-Identifier: Apache-2.0 */
/* Named arrays that are kept (--gmt-state): "make" makes one of each policy, "check" finds them again, also on another
 * number of nodes, "change" adds 1 to all elements, "free" frees them, "none" expects none. */
#include <gmt/gmt.h>
#include <string.h>

#include "check.h"

static const struct {
  const char* name;
  alloc_type_t type;
  uint64_t bytes;
  bool kept;
} arrays[] = {{"local", (alloc_type_t)(GMT_ALLOC_LOCAL | GMT_ALLOC_SHM), 8, true},
              {"from zero", (alloc_type_t)(GMT_ALLOC_PARTITION_FROM_ZERO | GMT_ALLOC_SSD), 8, true},
              {"from/random", (alloc_type_t)(GMT_ALLOC_PARTITION_FROM_RANDOM | GMT_ALLOC_DISK), 4, true},
              {"../from.here", (alloc_type_t)(GMT_ALLOC_PARTITION_FROM_HERE | GMT_ALLOC_DISK), 1, true},
              {"remote", (alloc_type_t)(GMT_ALLOC_REMOTE | GMT_ALLOC_SHM), 2, true},
              {"replicate", (alloc_type_t)(GMT_ALLOC_REPLICATE | GMT_ALLOC_SHM), 8, true},
              {"in memory", GMT_ALLOC_PARTITION_FROM_ZERO, 8, false}};
enum { k_arrays = sizeof arrays / sizeof arrays[0], k_size = 1000 };

static uint64_t low(uint64_t value, uint64_t bytes) { return bytes == 8 ? value : value % (UINT64_C(1) << 8 * bytes); }

int gmt_main(uint64_t argc, char* argv[]) {
  CHECK(argc >= 2);
  const uint64_t added = argc > 2 ? (uint64_t)atoi(argv[2]) : 0; /* so often "change" has run */
  for (int k = 0; k < k_arrays; ++k) {
    if (strcmp(argv[1], "make") == 0) {
      const gmt_data_t a = gmt_alloc(k_size, arrays[k].bytes, arrays[k].type, arrays[k].name);
      CHECK(a != GMT_DATA_NULL);
      for (uint64_t i = 0; i < k_size; ++i) gmt_put_value_nb(a, i, i * 12345 + (uint64_t)k);
      gmt_wait_data();
      continue;
    }
    const gmt_data_t a = gmt_attach(arrays[k].name);
    if (strcmp(argv[1], "none") == 0 || !arrays[k].kept) {
      CHECK(a == GMT_DATA_NULL);
      continue;
    }
    CHECK(a != GMT_DATA_NULL && gmt_attach(arrays[k].name) == a);
    CHECK(gmt_get_alloc_type(a) == arrays[k].type && gmt_get_elem_bytes(a) == arrays[k].bytes);
    for (uint64_t i = 0; i < k_size; ++i) {
      uint64_t value = 0;
      gmt_get(a, i, &value, 1);
      CHECK(value == low(i * 12345 + (uint64_t)k + added, arrays[k].bytes));
      if (strcmp(argv[1], "change") == 0) gmt_atomic_add(a, i, 1);
    }
    if (strcmp(argv[1], "free") == 0) gmt_free(a);
  }
  puts("kept ok");
  return 0;
}
