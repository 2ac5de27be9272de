// SPDX-License-Identifier: Apache-2.0
#include <taskflow/taskflow.hpp>

#include "bench/problems/harness.hpp"
#include "bench/problems/tree/kernel.hpp"

namespace {

using namespace problems::tree;

counts search(const problem& p, const node& n, tf::Runtime& here) {
  const unsigned children = p.children(n);
  if (children == 0) return leaf(n);
  child_counts below(children);
  for (unsigned i = 0; i + 1 < children; ++i)
    here.silent_async([&p, &n, &mine = below[i], i](tf::Runtime& child) { mine = search(p, p.child(n, i), child); });
  below[children - 1] = search(p, p.child(n, children - 1), here);
  here.corun_all();
  return total(n, below, children);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  m.run([&executor](const problem& p) {
    counts result{};
    executor.silent_async([&](tf::Runtime& here) { result = search(p, p.root(), here); });
    executor.wait_for_all();
    return result;
  });
  return m.finish();
}
