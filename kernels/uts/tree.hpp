// SPDX-License-Identifier: Apache-2.0
// The trees of the UTS benchmark: a node is a state of 20 bytes; its last four bytes, as a number below 2^31, say how many
// children it has; the SHA-1 of the state and of a child's number is the child. So a tree is a function of a few numbers,
// and nobody knows its shape before it has been searched.
//   binomial    the root has b0 children; any other node has m children with probability q, else none
//   geometric   children follow a geometric distribution whose mean depends on the depth: fixed (b0 down to a depth),
//               linear (falling to 0 at that depth), cyclic (rising and falling)
//   hybrid      geometric in the upper half of the depth, binomial below
// Who may call: anyone; pure functions.
// Source: Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS: An Unbalanced Tree Search Benchmark, LCPC 2006; the
// trees and their sizes are those of its distribution. Test: tests/unit/kernels/uts_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "kernels/uts/sha1.hpp"

namespace shoal::kernels::uts {

struct node {
  digest state;
  std::uint32_t depth;
};

struct counts {
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t depth = 0;  // of the deepest node

  void visit(std::uint32_t at, std::uint32_t children) noexcept {
    ++nodes;
    leaves += children == 0 ? 1 : 0;
    depth = std::max<std::uint64_t>(depth, at);
  }
  void add(const counts& c) noexcept {
    nodes += c.nodes;
    leaves += c.leaves;
    depth = std::max(depth, c.depth);
  }
  friend bool operator==(const counts&, const counts&) = default;
};

enum class tree_kind : std::uint8_t { binomial, geometric, hybrid };
enum class tree_shape : std::uint8_t { fixed, linear, cyclic };

struct tree {
  tree_kind kind = tree_kind::geometric;
  tree_shape shape = tree_shape::fixed;
  double b0 = 4;
  std::uint32_t levels = 10;  // of geometric trees
  double q = 0;               // of binomial ones
  std::uint32_t m = 0;
  std::uint32_t seed = 19;

  static constexpr std::uint32_t k_most_children = 100;  // but for the root of a binomial tree

  node root() const noexcept { return {sha1_of_seed(seed), 0}; }
  static node child(const node& of, std::uint32_t i) noexcept { return {sha1_of_child(of.state, i), of.depth + 1}; }

  std::uint32_t children(const node& n) const noexcept {
    const double drawn = static_cast<double>(n.state[4] & 0x7fffffffU) / 2147483648.0;
    const bool is_binomial =
        kind == tree_kind::binomial || (kind == tree_kind::hybrid && 2 * std::uint64_t{n.depth} >= levels);
    if (is_binomial) {
      if (n.depth == 0) return static_cast<std::uint32_t>(b0);
      return drawn < q ? m : 0;
    }
    const double mean = mean_at(n.depth);
    if (mean <= 0) return 0;
    const double stop = std::log(1 - 1 / (1 + mean));
    return std::min(static_cast<std::uint32_t>(std::log(1 - drawn) / stop), k_most_children);
  }

private:
  double mean_at(std::uint32_t depth) const noexcept {
    if (depth == 0) return b0;
    switch (shape) {
      case tree_shape::fixed: return depth < levels ? b0 : 0;
      case tree_shape::linear: return b0 * (1 - static_cast<double>(depth) / levels);
      default:
        if (depth > 5 * levels) return 0;
        return std::pow(b0, std::sin(2 * std::numbers::pi * static_cast<double>(depth) / levels));
    }
  }
};

/// The trees of the benchmark's distribution, and what it says about them.
struct published_tree {
  std::string_view name;
  tree shape;
  counts size;
};
inline constexpr std::array k_published = {
    published_tree{"T1", {.b0 = 4, .levels = 10, .seed = 19}, {4130071, 3305118, 10}},
    published_tree{"T2", {.shape = tree_shape::cyclic, .b0 = 6, .levels = 16, .seed = 502}, {4117769, 2342762, 81}},
    published_tree{
        "T3", {.kind = tree_kind::binomial, .b0 = 2000, .q = 0.124875, .m = 8, .seed = 42}, {4112897, 3599034, 1572}},
    published_tree{"T4",
                   {.kind = tree_kind::hybrid,
                    .shape = tree_shape::linear,
                    .b0 = 6,
                    .levels = 16,
                    .q = 0.234375,
                    .m = 4,
                    .seed = 1},
                   {4132453, 3108986, 134}},
    published_tree{"T5", {.shape = tree_shape::linear, .b0 = 4, .levels = 20, .seed = 34}, {4147582, 2181318, 20}},
    published_tree{"T1L", {.b0 = 4, .levels = 13, .seed = 29}, {102181082, 81746377, 13}},
    published_tree{"T2L", {.shape = tree_shape::cyclic, .b0 = 7, .levels = 23, .seed = 220}, {96793510, 53791152, 67}},
    published_tree{"T3L",
                   {.kind = tree_kind::binomial, .b0 = 2000, .q = 0.200014, .m = 5, .seed = 7},
                   {111345631, 89076904, 17844}},
};

/// One node after the other, depth first.
counts search_alone(const tree& t);

}  // namespace shoal::kernels::uts
