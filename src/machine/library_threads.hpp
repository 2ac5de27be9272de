// SPDX-License-Identifier: Apache-2.0
// The threads of numerical libraries that a worker's thread calls: OpenMP (and what is built with it), MKL, OpenBLAS. A
// worker for each processor, each calling a library that starts a thread for each processor, makes processors squared.
// While this object exists, such libraries use one thread, where the program has loaded them and the user has not said how
// many they are to use (OMP_NUM_THREADS, MKL_NUM_THREADS, OPENBLAS_NUM_THREADS).
// Who may call: the thread that is to call the libraries; construct and destroy on it. Never switches tasks.
// Limits: libraries loaded later are not seen. OpenBLAS with threads of its own has one number for the whole process, which
// the first object sets and the last one gives back. Tests: tests/stress/openmp_test.cpp.
#pragma once

#include <string>

namespace shoal::machine {

class library_threads {
public:
  library_threads() noexcept;
  library_threads(const library_threads&) = delete;
  library_threads& operator=(const library_threads&) = delete;
  ~library_threads();

private:
  int openmp_before_ = 0;  // 0: not changed
  int mkl_before_ = -1;    // -1: not changed
  bool counts_openblas_ = false;
};

/// The variable that gives a library of this process so many threads that `workers` workers need more than `processors`, as
/// "OMP_NUM_THREADS=4"; empty: there is none.
std::string oversubscribing_library(unsigned workers, unsigned processors);

}  // namespace shoal::machine
