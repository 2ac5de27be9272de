// SPDX-License-Identifier: Apache-2.0
// A request to stop a loop over nodes, a call on one, or a group at anywhere: the node that began it forwards it to the nodes that run a part.
// Who may call: tasks. ~stop_forwarding() switches if a stop was requested; the rest does not.
// Guarantees: without a request there is no message. With one, which goes down a tree where the nodes are many, each node of the loop begins no further iteration once it
// has executed the message; a second message ends the record of the request. Nothing is left on any node when ~stop_forwarding() has returned: not by
// requests that overtake the share, nor by those that come after its end.
// Shown by tests/cluster/loop_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "shoal/detail/scope.hpp"

namespace shoal::detail {

class loop_shares;

/// On the node that began the loop, from before its shares are sent until all have ended.
class stop_forwarding {
public:
  stop_forwarding(const std::stop_token& token, const loop_shares& all);
  /// The same for one call on `node`, which may be this one.
  stop_forwarding(const std::stop_token& token, std::uint32_t node);
  /// The same for what may come to any node.
  explicit stop_forwarding(const std::stop_token& token);
  stop_forwarding(const stop_forwarding&) = delete;
  stop_forwarding& operator=(const stop_forwarding&) = delete;
  ~stop_forwarding();

  /// What the shares name the loop by; unique on this node.
  std::uint64_t id() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// On a node that runs a share of the loop `id` of node `from`: the scope of what runs there.
class share_stop : public scope {
public:
  share_stop(std::uint32_t from, std::uint64_t id);
  share_stop(const share_stop&) = delete;
  share_stop& operator=(const share_stop&) = delete;
  ~share_stop();

private:
  std::uint32_t from_;
  std::uint64_t id_;
};

}  // namespace shoal::detail
