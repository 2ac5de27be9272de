// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, LCPC 2006): count the nodes of a
// tree whose shape is not known in advance. A node has 20 bytes. The SHA-1 of these bytes and a child's number is the
// child; its last four bytes, as a number below 2^31, determine the number of its children. One task per node: all
// children except the last are spawned, the last is called, then the node waits. Sizes: 1 is the tree T1 (geometric:
// wide, ten levels), 3 is T3 (binomial: 1572 levels deep, most subtrees tiny). Verified against the published nodes,
// leaves and depth of each tree. Work: nodes, counted by the search. All programs use the same generator and hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/uts/tree.hpp"

namespace problems::uts {

using shoal::kernels::uts::counts;
using shoal::kernels::uts::node;

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

  explicit problem(std::uint64_t size) : searched_(published(size)) {}

  node root() const { return searched_.shape.root(); }
  node child(const node& n, unsigned i) const { return shoal::kernels::uts::tree::child(n, i); }
  unsigned children(const node& n) const { return searched_.shape.children(n); }

  bool valid(const result& r) const { return r == searched_.size; }
  std::uint64_t work(const result& r) const { return r.nodes; }

private:
  static const shoal::kernels::uts::published_tree& published(std::uint64_t size) {
    if (size != 1 && size != 3) throw std::invalid_argument("the size is the number of a tree: 1 for T1, 3 for T3");
    return *std::ranges::find(shoal::kernels::uts::k_published, size == 1 ? "T1" : "T3",
                              &shoal::kernels::uts::published_tree::name);
  }

  const shoal::kernels::uts::published_tree& searched_;
};

inline void serial(const problem& p, const node& n, counts& c) {
  const unsigned children = p.children(n);
  c.visit(n.depth, children);
  for (unsigned i = 0; i < children; ++i) serial(p, p.child(n, i), c);
}

}  // namespace problems::uts
