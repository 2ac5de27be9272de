/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output line by line: each rank writes lines in pieces, by several functions, while others write theirs. The
   test that starts it looks at what comes out: every line is "rank R line L: abc def ghi". With the argument "wide" by
   functions for wide characters. */
#include <unistd.h>
#include <wchar.h>

#include "check.h"

static void write_wide(void) {
  for (int line = 0; line < 5; ++line) {
    CHECK(wprintf(L"rank %d line %d:", rank_, line) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fputws(L" abc", stdout) >= 0);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fwprintf(stdout, L" %ls", L"def") > 0);
    putwchar(L' ');
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fputws(L"ghi\n", stdout) >= 0);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "wide") == 0) {
    write_wide();
    return end();
  }
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
