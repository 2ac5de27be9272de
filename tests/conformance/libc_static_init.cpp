// SPDX-License-Identifier: Apache-2.0
// MPI begun by the constructor of a static object and ended by its destructor, as some C++ libraries do: both run as the
// rank, on the thread of its main().
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "check.h"

namespace {

thread_local int set_before_main = 0;

class environment {
public:
  environment() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    set_before_main = rank_ + 1;
    srand(static_cast<unsigned>(rank_));
    setenv("SHOALTEST_RANK", std::to_string(rank_).c_str(), 1);
  }
  ~environment() {
    if (end() != 0) _exit(1);
  }
};
environment the_environment;

}  // namespace

int main() {
  CHECK_EQUAL(set_before_main, rank_ + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(std::atoi(std::getenv("SHOALTEST_RANK")), rank_);
  const int drawn = rand();
  srand(static_cast<unsigned>(rank_));
  CHECK_EQUAL(drawn, rand());
  return 0;
}
