// SPDX-License-Identifier: Apache-2.0
// A radix sort per thread, then merges: what Thrust does for numbers with OpenMP.
#include <thrust/sort.h>
#include <thrust/system/omp/execution_policy.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  omp_set_num_threads(static_cast<int>(m.workers()));
  m.run(
      [](problems::sort::problem& p) { thrust::sort(thrust::omp::par, p.keys.data(), p.keys.data() + p.keys.size()); });
  return m.finish();
}
