// SPDX-License-Identifier: Apache-2.0
// A loop over nodes: the share of each node, and the calls that begin the shares of the others. The templates of
// shoal/parallel_for.hpp and the loops of shoal/core.h are made of it. A rule travels, from which each node computes its
// share; so a loop does not list what all nodes do.
// Who may call: tasks. begin_loop_calls() may switch, when buffers are full; the rest does not.
// Guarantees: shares are disjoint and cover the range. A node without iterations has no share and gets no message,
// unless it lies between owners of elements, or forwards. Shown by tests/cluster/loop_test.cpp, tests/cluster/core_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/call_tree.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/loop_run.hpp"

namespace shoal::detail {

/// The index of this node's k-th element of an array of distribution::owned.
std::uint64_t owned_position(std::uint64_t array, std::uint64_t k) noexcept;

/// What one node does of a loop: `count` positions. Without a stride they are first, first + 1 ... Else they are in runs
/// of `run`, each `stride` behind the one before, and `skipped` positions before them are not the loop's. Positions
/// count from 0; of owners_of they are the array's indices.
struct loop_share {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
  std::uint64_t run = 1;
  std::uint64_t skipped = 0;
  std::uint64_t array = 0;        // with run 0: the id of an array of distribution::owned, whose elements here they are
  std::uint64_t grain = 0;        // of a simple_partitioner
  std::uint64_t stack_bytes = 0;  // that each piece asks for; 0: none
  std::uint64_t stop = 0;  // twice what names the loop in requests to stop it, and 1 if they end it; 0: there are none
  loop_plan::kind how = loop_plan::kind::automatic;
  bool outermost = false;

  std::uint64_t position(std::uint64_t k) const noexcept {
    if (run == 1) return first + k * stride;
    if (run == 0) return owned_position(array, k + skipped);
    return first + (k + skipped) / run * stride + (k + skipped) % run;
  }
  loop_plan plan() const noexcept {
    return {.how = how, .grain = grain, .stack_bytes = static_cast<std::size_t>(stack_bytes)};
  }
};

/// How a loop is divided over a row of nodes.
struct loop_rule {
  enum class division : std::uint8_t { equal, dealt, owners };

  std::uint64_t begin = 0;  // positions
  std::uint64_t end = 0;
  std::uint64_t array = 0;        // of owners: its id
  std::uint64_t grain = 0;        // these as in loop_share
  std::uint64_t stack_bytes = 0;  //
  std::uint64_t stop = 0;         //
  std::uint32_t origin = 0;       // the node that has begun the loop
  std::uint32_t takers = 1;       // of equal and dealt: by how many the positions are divided
  division divides = division::equal;
  loop_plan::kind how = loop_plan::kind::automatic;
  bool outermost = false;

  /// Of the node at this place of the row.
  loop_share share(std::uint32_t place, std::uint32_t node, const array_layout* layout) const noexcept;
  /// On the node itself.
  loop_share share_here(std::uint32_t place) const noexcept;
};

/// In front of a loop's own arguments: the place in the row, and the rule.
inline constexpr std::size_t k_rule_words = 1 + packed<loop_rule>::k_words;

/// What has arrived, at the beginning of the arguments.
loop_share arrived_share(std::span<const std::uint64_t> arguments, loop_rule& rule) noexcept;
inline loop_share arrived_share(std::span<const std::uint64_t> arguments) noexcept {
  loop_rule rule;
  return arrived_share(arguments, rule);
}

/// The nodes that take part in a loop, and what each does.
class loop_shares {
public:
  /// Equal shares on all nodes, the first one on node `start`.
  static loop_shares everywhere(std::uint64_t begin, std::uint64_t end, std::uint32_t start = 0);
  /// Equal shares on all nodes but this one; ends the program if there is no other.
  static loop_shares elsewhere(std::uint64_t begin, std::uint64_t end);
  /// All on this node, or on that one.
  static loop_shares here(std::uint64_t begin, std::uint64_t end);
  static loop_shares on(std::uint32_t node, std::uint64_t begin, std::uint64_t end);
  /// Position i of [0, count) on node i mod n.
  static loop_shares dealt(std::uint64_t count);
  /// Each index on the node that holds the element; ends the program if there is no such element.
  static loop_shares owners(const array_layout& layout, std::uint64_t begin, std::uint64_t end);

  const node_row& row() const noexcept { return row_; }
  std::uint32_t size() const noexcept { return row_.count; }
  std::uint32_t node(std::uint32_t place) const noexcept { return row_.node(place); }
  loop_share operator[](std::uint32_t place) const noexcept { return rule_.share(place, node(place), &layout_); }
  const loop_rule& rule() const noexcept { return rule_; }

  /// How each node runs its share; `stop`: see loop_share.
  void set(const loop_plan& plan, std::uint64_t stop = 0) noexcept;

private:
  loop_rule rule_;
  node_row row_;
  array_layout layout_;  // of owners
};

/// Room in front of the arguments of a call that begins a share: for the tree, and for what arrived_share() reads.
inline constexpr std::size_t k_share_words = k_tree_words + k_rule_words;

/// Begins `tree`, of all.row(), for the shares of the loop. `words`: its arguments; the first k_share_words are written
/// here. With own_part::left_out, this node's own share is left to the caller and returned, if it has one.
std::optional<loop_share> begin_loop_calls(completion& calls, const loop_shares& all, call_tree& tree,
                                           std::span<std::uint64_t> words, call_tree::own_part own);
/// The same, where there are no answers.
std::optional<loop_share> begin_loop_calls(completion& calls, const loop_shares& all, callee code,
                                           std::span<std::uint64_t> words, call_tree::own_part own);

/// Where a share runs that has arrived: its iterations are outermost if the loop was begun there.
class outermost_scope {
public:
  explicit outermost_scope(bool outermost) noexcept { set_outermost(outermost); }
  outermost_scope(const outermost_scope&) = delete;
  outermost_scope& operator=(const outermost_scope&) = delete;
  ~outermost_scope() { set_outermost(false); }
};

}  // namespace shoal::detail
