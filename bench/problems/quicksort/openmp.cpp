// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/quicksort/kernel.hpp"

namespace {

using namespace problems::quicksort;

template <class Key>
void sort(Key* first, Key* last) {
  if (is_leaf(first, last)) return sort_leaf(first, last);
  Key* const cut = partition(first, last);
#pragma omp task firstprivate(first, cut)
  sort(first, cut);
  sort(cut, last);
#pragma omp taskwait
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) {
    p.run([workers](auto* first, auto* last) {
#pragma omp parallel num_threads(workers)
#pragma omp single
      sort(first, last);
    });
  });
  return m.finish();
}
