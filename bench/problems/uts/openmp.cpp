// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"

namespace {

using namespace problems::uts;

void search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  tally::here().visit(n.depth, children);
  if (children == 0) return;
  for (unsigned i = 0; i + 1 < children; ++i) {
#pragma omp task shared(p, n) firstprivate(i)
    search(p, p.child(n, i));
  }
  search(p, p.child(n, children - 1));
#pragma omp taskwait
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) {
#pragma omp parallel num_threads(workers)
#pragma omp single
    search(p, p.root());
    return tally::take();
  });
  return m.finish();
}
