// SPDX-License-Identifier: Apache-2.0
// One collective operation of a member of a team: its link to the other members (shoal/detail/collectives.hpp).
// Who may call: tasks, one at a time for each call. The constructor, await and send switch tasks; the constructor gives
// the call its number, so members construct their calls in the same order.
// Guarantees: what is sent early is kept; one member keeps at most some 64 KiB for another, then the sender waits.
// Errors: if the team has failed, or fails while the call waits, they throw what spmd.hpp says; from then on nothing is
// written to what the call expects.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "shoal/detail/collectives.hpp"

namespace shoal::detail {

class team_state;

/// The collectives, as members compare them; `leave`: the end of the body; `close`: of a team made by split().
enum class collective : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  scan,
  exscan,
  gather,
  all_gather,
  all_to_all,
  split,
  leave,
  close
};

/// What a member calls: the collective, its root, and the bytes of a member's data if they must be equal. One word.
class called {
public:
  /// In the place of a root: the members exchange blocks of any sizes.
  static constexpr std::uint32_t k_of_blocks = 1;

  called() = default;
  explicit called(collective what, std::uint32_t root = 0, std::uint64_t bytes = 0) noexcept
      : word_(static_cast<std::uint64_t>(what) << k_what_bit | (root & k_most_root) << k_root_bit |
              (bytes & k_most_bytes)) {}
  explicit called(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word() const noexcept { return word_; }
  collective what() const noexcept { return static_cast<collective>(word_ >> k_what_bit); }
  std::uint64_t root() const noexcept { return word_ >> k_root_bit & k_most_root; }
  std::uint64_t bytes() const noexcept { return word_ & k_most_bytes; }
  bool operator==(const called&) const = default;

private:
  static constexpr unsigned k_what_bit = 59;
  static constexpr unsigned k_root_bit = 38;
  static constexpr std::uint64_t k_most_root = (std::uint64_t{1} << (k_what_bit - k_root_bit)) - 1;
  static constexpr std::uint64_t k_most_bytes = (std::uint64_t{1} << k_root_bit) - 1;
  std::uint64_t word_ = 0;
};

/// The members of a team, as one of them knows them.
struct team_group {
  std::uint64_t id = 0;  // 0: all nodes
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::vector<std::uint32_t> nodes;  // by rank; empty: member r is on node r
  std::uint64_t calls = 0;           // that this member has begun

  std::uint32_t node_of(std::uint32_t member) const noexcept { return nodes.empty() ? member : nodes[member]; }
};

/// What names a message between members of a team; for the receiver `member` is the sender, and the reverse.
struct letter_name {
  std::uint64_t group;
  std::uint64_t call;
  std::uint32_t member;
  std::uint32_t step;
  bool operator==(const letter_name&) const = default;
};

class team_call final : public collectives::link {
public:
  team_call(std::shared_ptr<team_state> state, const std::shared_ptr<team_group>& group, called what);
  team_call(team_call&&) noexcept = default;
  ~team_call() override;

  /// Runs a collective of this call, and sends what it has left in open buffers: other members may wait for it while
  /// this one computes.
  template <class Collective>
  auto run(const Collective& collective) {
    const end_at_exit ends(*this);
    if constexpr (std::is_void_v<std::invoke_result_t<const Collective&, collectives::link&>>) {
      collective(*this);
      send_rest();
    } else {
      auto result = collective(*this);
      send_rest();
      return result;
    }
  }

  void expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) override;
  void await(std::uint32_t from, std::uint32_t step) override;
  void send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) override;

private:
  struct end_at_exit {
    explicit end_at_exit(team_call& c) noexcept : call(c) {}
    end_at_exit(const end_at_exit&) = delete;
    ~end_at_exit() { call.end(); }
    team_call& call;
  };

  void end() noexcept;
  void send_rest();
  template <class Step>
  void or_abandon(const Step& step);

  letter_name name_of(std::uint32_t member, std::uint32_t step) const noexcept {
    return {group_->id, number_, member, step};
  }

  std::shared_ptr<team_state> state_;
  std::shared_ptr<const team_group> group_;
  std::uint64_t number_;
  called what_;
  std::vector<letter_name> expected_;  // and not awaited yet
  bool ended_ = false;
  bool unsent_ = false;  // it has sent since it waited last
};

}  // namespace shoal::detail
