// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, LCPC 2006): count the nodes of a tree
// whose shape nobody knows before. A node is 20 bytes; the SHA-1 of them and a child's number is the child, and the last
// four bytes, as a number below 2^31, decide how many children there are. A task per node: all children but the last
// are spawned, the last is called, then the node waits. Sizes: 1 is the tree T1 (geometric: wide, ten levels), 3 is T3
// (binomial: 1572 levels deep, most subtrees tiny). The verifier is the published nodes, leaves and depth of each.
// Work: nodes, counted by the search. The generator and the hash are the same code for all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "bench/problems/uts/sha1.hpp"

namespace problems::uts {

struct node {
  digest state;
  unsigned depth;
};

struct counts {
  std::uint64_t nodes;
  std::uint64_t leaves;
  std::uint64_t depth;

  void add(const counts& c) {
    nodes += c.nodes;
    leaves += c.leaves;
    depth = std::max(depth, c.depth);
  }
  friend bool operator==(const counts&, const counts&) = default;
};

/// Where the children of a node leave their counts: on the stack while they are few, as nearly always.
class child_counts {
public:
  explicit child_counts(unsigned children) : many_(children > k_few ? new counts[children] : nullptr) {}
  counts& operator[](unsigned i) { return many_ ? many_[i] : few_[i]; }

private:
  static constexpr unsigned k_few = 8;
  std::unique_ptr<counts[]> many_;
  counts few_[k_few];
};

struct problem {
  static constexpr const char* k_name = "uts";
  static constexpr const char* k_work_unit = "node";
  static constexpr std::uint64_t k_size = 1;
  static constexpr std::uint64_t k_test_size = 1;
  using result = counts;

  explicit problem(std::uint64_t size) : binomial(size == 3) {
    if (size == 1) {  // -t 1 -a 3 -d 10 -b 4 -r 19
      root_children = 4;
      seed = 19;
      levels = 10;
      log_stop = std::log(1 - 1.0 / (1 + 4.0));
      expected = {4130071, 3305118, 10};
    } else if (size == 3) {  // -t 0 -b 2000 -q 0.124875 -m 8 -r 42
      root_children = 2000;
      seed = 42;
      probability = 0.124875;
      inner_children = 8;
      expected = {4112897, 3599034, 1572};
    } else {
      throw std::invalid_argument("the size is the number of a tree: 1 for T1, 3 for T3");
    }
  }

  node root() const { return {sha1_of_seed(seed), 0}; }
  node child(const node& n, unsigned i) const { return {sha1_of_child(n.state, i), n.depth + 1}; }

  unsigned children(const node& n) const {
    const double u = static_cast<double>(n.state[4] & 0x7fffffffU) / 2147483648.0;
    if (binomial) return n.depth == 0 ? root_children : (u < probability ? inner_children : 0);
    if (n.depth >= levels) return 0;
    return std::min(static_cast<unsigned>(std::floor(std::log(1 - u) / log_stop)), 100U);
  }

  bool valid(const result& r) const { return r == expected; }
  std::uint64_t work(const result& r) const { return r.nodes; }

  bool binomial;
  unsigned root_children = 0;
  std::uint32_t seed = 0;
  unsigned levels = 0;          // geometric: nodes at this depth are leaves
  double log_stop = 0;          // geometric: ln(1 - p), 1/p - 1 children on average
  double probability = 0;       // binomial: that a node has children
  unsigned inner_children = 0;  // binomial: how many it has then
  counts expected{};
};

/// What a node counts that has children: itself and what they have left.
inline counts total(const node& n, child_counts& below, unsigned children) {
  counts sum{1, 0, n.depth};
  for (unsigned i = 0; i < children; ++i) sum.add(below[i]);
  return sum;
}
inline counts leaf(const node& n) { return {1, 1, n.depth}; }

inline void serial(const problem& p, const node& n, counts& c) {
  const unsigned children = p.children(n);
  ++c.nodes;
  c.leaves += children == 0 ? 1 : 0;
  c.depth = std::max<std::uint64_t>(c.depth, n.depth);
  for (unsigned i = 0; i < children; ++i) serial(p, p.child(n, i), c);
}

}  // namespace problems::uts
