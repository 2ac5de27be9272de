// SPDX-License-Identifier: Apache-2.0
#include "kernels/uts/tree.hpp"

#include <vector>

namespace shoal::kernels::uts {

counts search_alone(const tree& t) {
  counts found;
  std::vector<node> open{t.root()};  // trees are too deep for recursion
  while (!open.empty()) {
    const node n = open.back();
    open.pop_back();
    const std::uint32_t children = t.children(n);
    found.visit(n.depth, children);
    for (std::uint32_t i = 0; i < children; ++i) open.push_back(tree::child(n, i));
  }
  return found;
}

}  // namespace shoal::kernels::uts
