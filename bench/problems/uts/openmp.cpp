// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"

namespace {

using namespace problems::uts;

counts search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  if (children == 0) return leaf(n);
  child_counts below(children);
  for (unsigned i = 0; i + 1 < children; ++i) {
    counts* const mine = &below[i];
#pragma omp task shared(p, n) firstprivate(mine, i)
    *mine = search(p, p.child(n, i));
  }
  below[children - 1] = search(p, p.child(n, children - 1));
#pragma omp taskwait
  return total(n, below, children);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) {
    counts c{};
#pragma omp parallel num_threads(workers)
#pragma omp single
    c = search(p, p.root());
    return c;
  });
  return m.finish();
}
