// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "bench/problems/harness.hpp"
#include "bench/problems/scan/kernel.hpp"

namespace {

template <class T>
void scan(const std::vector<T>& from, std::vector<T>& to, unsigned workers) {
  const T* const in = from.data();
  T* const out = to.data();
  const std::size_t n = from.size();
  T sum = 0;
#pragma omp parallel for num_threads(workers) reduction(inscan, + : sum)
  for (std::size_t i = 0; i < n; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problems::scan::problem> m(argc, argv);
  m.run([workers = m.workers()](problems::scan::problem& p) {
    p.scan_by([workers](const auto& from, auto& to) { scan(from, to, workers); });
  });
  return m.finish();
}
