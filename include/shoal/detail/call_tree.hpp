// SPDX-License-Identifier: Apache-2.0
// One call of each node of a row, forwarded down a tree: O(log n) calls at every node. A node that forwards does so
// before its own part, and answers when all below it have ended. Up to k_direct_nodes others are called directly.
// Who may call: tasks. begin() may switch (when buffers are full).
// Guarantees: those of begin_call(); of several failures one is kept. Answers are combined as neighbours in the row,
// from left to right, in a shape that depends on the length of the row alone. A body gets its place in the row as its
// first word; what it is given as `from` is a node on the way.
// Why this cannot deadlock: docs/decisions/0025-trees-over-nodes.md. Shown by tests/cluster/call_tree_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/detail/call.hpp"

namespace shoal::detail {

/// Nodes in an order: `first` and those behind it, modulo `wrap`, without `skip`.
struct node_row {
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};

  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t wrap = 1;  // above first, at least count
  std::uint32_t skip = k_none;

  std::uint32_t node(std::uint32_t place) const noexcept {
    const std::uint64_t sum = std::uint64_t{first} + place;
    const auto n = static_cast<std::uint32_t>(sum < wrap ? sum : sum - wrap);
    return n + (n >= skip ? 1 : 0);
  }
  /// k_none: the node is not there.
  std::uint32_t place_of(std::uint32_t node) const noexcept {
    if (node == skip) return k_none;
    const std::uint32_t n = node - (node > skip ? 1 : 0);
    if (n >= wrap) return k_none;
    const std::uint32_t place = n >= first ? n - first : n + (wrap - first);
    return place < count ? place : k_none;
  }
  bool has(std::uint32_t node) const noexcept { return place_of(node) != k_none; }
};

/// All nodes of the job, by number.
node_row all_nodes_row() noexcept;

/// Others that a node calls itself, where a tree would gain nothing.
inline constexpr std::uint32_t k_direct_nodes = 4;

/// What a node has to do for a part of a row: calls, the outermost first, of which each is for a further part of it.
class tree_plan {
public:
  struct part {
    std::uint32_t begin = 0;  // places
    std::uint32_t end = 0;
    bool is_single() const noexcept { return end - begin == 1; }
  };

  /// `own`: the place, between begin and end, of the node that plans; k_none: it is not one of them.
  tree_plan(std::uint32_t begin, std::uint32_t end, std::uint32_t own) noexcept;

  std::span<const part> parts() const noexcept { return std::span(parts_).first(count_); }
  /// Among parts(): the node's own place. parts().size(): it is none of them.
  std::size_t own() const noexcept { return own_; }

  /// The value of all from those of the parts: combine(left, right) for neighbours; value_of(i) is taken once for each.
  template <class Value, class Combine>
  auto fold(const Value& value_of, const Combine& combine) const {
    auto all = value_of(halves_);
    for (std::size_t i = halves_ + 1; i < count_; ++i) all = combine(std::move(all), value_of(i));
    for (std::size_t i = halves_; i-- > 0;)
      all = parts_[i].begin < parts_[halves_].begin ? combine(value_of(i), std::move(all))
                                                    : combine(std::move(all), value_of(i));
    return all;
  }

private:
  static constexpr std::size_t k_most_parts = 32 + k_direct_nodes + 1;

  void add(std::uint32_t begin, std::uint32_t end) noexcept { parts_[count_++] = {begin, end}; }

  std::array<part, k_most_parts> parts_;
  std::size_t count_ = 0;
  std::size_t halves_ = 0;  // so many parts are halves that were split off; neighbours of each other follow
  std::size_t own_ = 0;
};

/// What travels in front of the arguments of a call that is to be forwarded.
struct tree_header {
  std::uint32_t begin = 0;  // places
  std::uint32_t end = 0;
  node_row row;
  static constexpr std::uint64_t k_no_function = registered_body::k_unnamed;
  std::uint64_t body = k_no_function;     // names of functions
  std::uint64_t combine = k_no_function;  // there are no answers
  std::uint64_t abandon = k_no_function;  // nothing is to be done
  std::uint64_t answer_words = 0;
};
inline constexpr std::size_t k_tree_words = packed<tree_header>::k_words;

class call_tree {
public:
  /// `body` is called once on each node of the row, and answers nothing. May switch.
  call_tree(const node_row& row, callee body);
  /// It answers `answer_words`, which are not 0. `combine` gets its arguments, and in its own room for an answer those of
  /// two neighbours, one behind the other; it leaves their combination in the place of the first.
  call_tree(const node_row& row, callee body, callee combine, std::size_t answer_words);
  /// A node that forwards.
  explicit call_tree(const tree_header& h);
  /// Before begin(): `abandon` is called with the arguments on a node that cannot call all others, while the exception is
  /// handled: those that were called may wait for them.
  void set_abandon(callee abandon);

  enum class own_part : std::uint8_t { called, left_out };
  /// Begins the calls and sends them. `words`: k_tree_words of room, then the arguments, of which the first is written
  /// here. If there are answers, the tree must live until `calls` has been waited for.
  void begin(completion& calls, std::span<std::uint64_t> words, own_part what);

  /// This node's place in the row, or node_row::k_none.
  std::uint32_t own_place() const noexcept { return own_place_; }
  /// Room for the answer of this node's part, if that is left out.
  std::uint64_t* own_answer() noexcept { return answers_.data() + plan_.own() * head_.answer_words; }
  /// Once all answers are there: their combination. `arguments`: those of the call.
  std::span<const std::uint64_t> combined(std::span<const std::uint64_t> arguments);

private:
  tree_header head_;
  std::uint32_t own_place_ = node_row::k_none;
  callee_function combine_ = nullptr;
  tree_plan plan_;
  std::vector<std::uint64_t> answers_;  // of each part of the plan
};

}  // namespace shoal::detail
