/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output line by line: each rank writes lines in pieces, by several functions, while others write theirs. The
   test that starts it looks at what comes out: every line is "rank R line L: abc def ghi". */
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int line = 0; line < 5; ++line) {
    printf("rank %d line %d:", rank_, line);
    MPI_Barrier(MPI_COMM_WORLD);
    fputs(" abc", stdout);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    fwrite(" def", 1, 4, stdout);
    putchar(' ');
    MPI_Barrier(MPI_COMM_WORLD);
    puts("ghi");
  }
  CHECK_EQUAL(fileno(stdout), 1);
  return end();
}
