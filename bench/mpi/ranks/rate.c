// SPDX-License-Identifier: Apache-2.0
// How many small messages per second one rank sends to another, in windows.
#include "windows.h"

int main(int argc, char** argv) {
  const struct option options[] = {{"bytes", 8, "per message, at least 8"}, {"window", 64, "messages in flight"}};
  begin_program(argc, argv, "rate", options, 2);
  struct stream s = {option_count("bytes"), option_count("window"), NULL};
  const double us = stream_us(&s);
  if (g_program.rank == 0) add_metric("rate", "M messages/s", 1 / us);
  free(s.buffers);
  return end_program();
}
