// SPDX-License-Identifier: Apache-2.0
// How many bytes per second one rank sends to another, in windows of long messages, and what memcpy does with as many.
#include "windows.h"

int main(int argc, char** argv) {
  const struct option options[] = {{"bytes", 1 << 20, "per message, at least 8"}, {"window", 4, "messages in flight"}};
  begin_program(argc, argv, "bandwidth", options, 2);
  struct stream s = {option_count("bytes"), option_count("window"), NULL};
  const double us = stream_us(&s);
  if (g_program.rank == 0) {
    unsigned char* const to = allocate((size_t)s.window * (size_t)s.bytes);
    add_metric("gb_per_second", "GB/s", s.bytes / us / 1e3);
    add_metric("memcpy_gb_per_second", "GB/s", s.bytes / memcpy_us(to, s.buffers, (size_t)s.bytes, s.window) / 1e3);
    free(to);
  }
  free(s.buffers);
  return end_program();
}
