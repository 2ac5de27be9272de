/* SPDX-License-Identifier: Apache-2.0 */
/* For programs of gmt.h that test it: a check that ends the job with status 1 after a message. C and C++. */
#ifndef SHOAL_TESTS_GMT_CHECK_H
#define SHOAL_TESTS_GMT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d on node %u: %s\n", __FILE__, __LINE__, gmt_node_id(), #condition); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

#endif
