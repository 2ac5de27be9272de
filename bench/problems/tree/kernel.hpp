// SPDX-License-Identifier: Apache-2.0
// An unbalanced tree without hashing: a tree with the shape of UTS T1. A node has 8 bytes and a cheap generator, so a
// node costs a few nanoseconds and the tasks dominate the time. One task per node: all children except the last are
// spawned, the last is called, then the node waits. The numbers of children are geometric (4 on average) in 256 steps,
// from the first byte of a node's mixed state; nodes at the last level are leaves. The size is the number of levels.
// Verified against a serial walk. Work: nodes, counted by the search.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace problems::tree {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

struct node {
  std::uint64_t state;
  unsigned depth;
};

using counts = std::uint64_t;

/// Receives the counts of a node's children; on the stack if they are few, which is the usual case.
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
  static constexpr const char* k_name = "tree";
  static constexpr const char* k_work_unit = "node";
  static constexpr std::uint64_t k_size = 10;
  static constexpr std::uint64_t k_test_size = 7;
  using result = counts;

  explicit problem(std::uint64_t size) : levels(static_cast<unsigned>(size)) {
    if (size < 1 || size > 14) throw std::invalid_argument("the size is the number of levels, 1 to 14");
    const double log_stop = std::log(1 - 1.0 / (1 + 4.0));
    for (unsigned i = 0; i < steps.size(); ++i)
      steps[i] = static_cast<std::uint8_t>(std::floor(std::log(1 - (i + 0.5) / 256) / log_stop));
    std::vector<node> open{root()};
    while (!open.empty()) {
      const node n = open.back();
      open.pop_back();
      ++expected;
      for (unsigned i = children(n); i-- > 0;) open.push_back(child(n, i));
    }
  }

  node root() const { return {mix(k_seed), 0}; }
  node child(const node& n, unsigned i) const { return {mix(n.state + (i + 1) * 0x9e3779b97f4a7c15U), n.depth + 1}; }
  unsigned children(const node& n) const { return n.depth < levels ? steps[n.state >> 56] : 0; }

  bool valid(result r) const { return r == expected; }
  std::uint64_t work(result r) const { return r; }

  static constexpr std::uint64_t k_seed = 34;
  unsigned levels;
  std::array<std::uint8_t, 256> steps{};
  std::uint64_t expected = 0;
};

/// The counts of a node with children: itself and all below it.
inline counts total(const node&, child_counts& below, unsigned children) {
  counts sum = 1;
  for (unsigned i = 0; i < children; ++i) sum += below[i];
  return sum;
}
inline counts leaf(const node&) { return 1; }

inline void serial(const problem& p, const node& n, counts& c) {
  const unsigned children = p.children(n);
  ++c;
  for (unsigned i = 0; i < children; ++i) serial(p, p.child(n, i), c);
}

}  // namespace problems::tree
