// SPDX-License-Identifier: Apache-2.0
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <memory>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"

namespace {

using namespace problems::uts;

// A quarter of the default, so that malloc reuses stacks instead of mapping each anew.
constexpr std::size_t k_stack_bytes = 32 * 1024;

void search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  tally::here().visit(n.depth, children);
  if (children == 0) return;
  std::vector<boost::fibers::fiber> tasks;
  tasks.reserve(children);
  // Every child is a fiber, including the last one: a stack is large enough for only one node.
  for (unsigned i = 0; i < children; ++i) {
    tasks.emplace_back(std::allocator_arg, boost::fibers::fixedsize_stack(k_stack_bytes),
                       [&p, &n, i] { search(p, p.child(n, i)); });
  }
  for (boost::fibers::fiber& task : tasks) task.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](const problem& p) {
    search(p, p.root());
    return tally::take();
  });
  return m.finish();
}
