// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, LCPC 2006): count the nodes of a
// tree whose shape is not known in advance. A node has 20 bytes. The SHA-1 of these bytes and a child's number is the
// child; its last four bytes, as a number below 2^31, determine the number of its children. One task per node: all
// children except the last are spawned, the last is called, then the node waits. Sizes: 1 is the tree T1 (geometric:
// wide, ten levels), 3 is T3 (binomial: 1572 levels deep, most subtrees tiny). Verified against the published nodes,
// leaves and depth of each tree. Work: nodes, counted by the search. All programs use the same generator and hash.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/uts/sha1.hpp"

namespace problems::uts {

using shoal::kernels::uts::digest;
using shoal::kernels::uts::sha1_of_child;
using shoal::kernels::uts::sha1_of_seed;

struct node {
  digest state;
  unsigned depth;
};

struct counts {
  std::uint64_t nodes;
  std::uint64_t leaves;
  std::uint64_t depth;

  void visit(const node& n, unsigned children) {
    ++nodes;
    leaves += children == 0 ? 1 : 0;
    depth = std::max<std::uint64_t>(depth, n.depth);
  }
  void add(const counts& c) {
    nodes += c.nodes;
    leaves += c.leaves;
    depth = std::max(depth, c.depth);
  }
  friend bool operator==(const counts&, const counts&) = default;
};

/// One counter per thread, as in the reference implementation.
class tally {
public:
  /// The calling thread's counts; do not keep the reference over a call that may change threads.
  [[gnu::noinline]] static counts& here() {
    thread_local counts* mine = nullptr;
    if (mine == nullptr) {
      const std::lock_guard hold(guard_);
      mine = all_.emplace_back(std::make_unique<counts>()).get();
    }
    return *mine;
  }
  /// Returns and resets the sum. Call it while no thread counts.
  static counts take() {
    const std::lock_guard hold(guard_);
    counts sum{};
    for (const auto& one : all_) sum.add(std::exchange(*one, counts{}));
    return sum;
  }

private:
  inline static std::mutex guard_;
  inline static std::vector<std::unique_ptr<counts>> all_;
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
  double probability = 0;       // binomial: probability that a node has children
  unsigned inner_children = 0;  // binomial: number of children of such a node
  counts expected{};
};

inline void serial(const problem& p, const node& n, counts& c) {
  const unsigned children = p.children(n);
  c.visit(n, children);
  for (unsigned i = 0; i < children; ++i) serial(p, p.child(n, i), c);
}

}  // namespace problems::uts
