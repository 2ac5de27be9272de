// SPDX-License-Identifier: Apache-2.0
// The communicators of a process by context, so that ranks that make one together get one object; and how contexts are
// numbered: by the member that leads the making, so that no two are equal in the job.
// Who may call: any worker. Nothing here switches tasks. Complexity: O(1) expected.
#pragma once

#include <mutex>
#include <unordered_map>

#include "rank/communicator.hpp"

namespace shoal::rank {

/// Those of communicators that programs make begin with k_first_serial.
inline constexpr context_id numbered_context(int leader, std::uint32_t serial) noexcept {
  return static_cast<context_id>(static_cast<std::uint32_t>(leader)) << 34 | static_cast<context_id>(serial) << 1;
}
inline constexpr context_id k_world_context = numbered_context(0, 0);
inline constexpr context_id self_context(int world_rank) noexcept { return numbered_context(world_rank, 1); }
inline constexpr context_id k_closing_context = numbered_context(0, 2);

class communicator_table {
public:
  /// The object of that context, made by the first of its members that asks.
  communicator_ref make(job_ranks& job, context_id context, const group_ref& local, const group_ref& remote);
  /// The same if it is there already; of an ordinary communicator.
  communicator_ref find(context_id context) const;
  /// A reference is dropped; with the last one the object ends.
  void drop_last(communicator& c) noexcept;
  std::size_t size() const;

private:
  // The two sides of an intercommunicator have one context, and an object each.
  struct key {
    context_id context;
    bool upper;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return static_cast<std::size_t>((k.context << 1 | (k.upper ? 1U : 0U)) * 0x9e37'79b9'7f4a'7c15U);
    }
  };
  static key key_of(context_id context, const group& local, const group* remote) noexcept;

  mutable std::mutex mutex_;
  std::unordered_map<key, communicator*, hash> all_;
};

}  // namespace shoal::rank
