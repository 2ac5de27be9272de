/* SPDX-License-Identifier: Apache-2.0 */
/* There are as many ranks as the argument says: a launcher's processes are one job, and not one each. */
#include "check.h"

int main(int argc, char** argv) {
  int sum = 0;
  begin(&argc, &argv);
  if (argc > 1) CHECK_EQUAL(size_, atoi(argv[1]));
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  return end();
}
