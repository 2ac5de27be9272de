// SPDX-License-Identifier: Apache-2.0
// A loop over nodes: the share of each node, and the calls that begin the shares of the others. The templates of
// shoal/parallel_for.hpp and the loops of shoal/core.h are made of it.
// Who may call: tasks. begin_other_shares() may switch, when buffers are full; the rest does not.
// Guarantees: shares are disjoint and cover the range; a node without iterations has no share, and gets no message.
// Shown by tests/cluster/loop_test.cpp, tests/cluster/core_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/call.hpp"
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
  std::uint64_t stop = 0;         // names the loop in requests to stop it; 0: there are none
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

inline constexpr std::size_t k_share_words = packed<loop_share>::k_words;

/// The nodes that take part in a loop, in ascending order (from `start` on, modulo n), and the share of each.
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

  std::size_t size() const noexcept { return shares_.size(); }
  std::uint32_t node(std::size_t i) const noexcept { return nodes_[i]; }
  const loop_share& operator[](std::size_t i) const noexcept { return shares_[i]; }

  /// How each node runs its share; `stop`: see loop_share.
  void set(const loop_plan& plan, std::uint64_t stop = 0) noexcept {
    const bool outermost = is_outermost();
    for (auto& s : shares_) {
      s.how = plan.how;
      s.grain = plan.grain;
      s.stack_bytes = plan.stack_bytes;
      s.stop = stop;
      s.outermost = outermost;
    }
  }

private:
  void add(std::uint32_t node, const loop_share& share);
  void divide(std::uint64_t begin, std::uint64_t end, std::uint32_t start, std::uint32_t but);

  std::vector<std::uint32_t> nodes_;
  std::vector<loop_share> shares_;
};

/// Begins a call of `code` for the share of every other node and sends the calls. `words`: its arguments; the first
/// k_share_words are written here, for each node. The answer of share i goes to answers + i * answer_words. Returns this
/// node's own share, which is left to the caller, or nullptr if it has none.
const loop_share* begin_other_shares(completion& calls, const loop_shares& all, callee code,
                                     std::span<std::uint64_t> words, std::uint64_t* answers = nullptr,
                                     std::size_t answer_words = 0);

/// Where a share runs that has arrived: its iterations are outermost if the loop was begun there.
class outermost_scope {
public:
  explicit outermost_scope(bool outermost) noexcept { set_outermost(outermost); }
  outermost_scope(const outermost_scope&) = delete;
  outermost_scope& operator=(const outermost_scope&) = delete;
  ~outermost_scope() { set_outermost(false); }
};

}  // namespace shoal::detail
