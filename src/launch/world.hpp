// SPDX-License-Identifier: Apache-2.0
// The shared page of the processes of a job on one machine, before they can communicate: each node writes its identity,
// program, settings and progress there. The transport's part follows in the same memory.
// Who may call: the launcher makes it, each node joins and leaves it, the service activities watch it. join() blocks
// its thread; never called by tasks.
// Guarantees: join() returns when all nodes are there and compatible; otherwise it throws shoal::error with the node
// and the difference. A node joins once. An announced loss ends the join() of the others at once. Zeroed memory is a
// world without nodes. Tests: tests/unit/launch/world_test.cpp, tests/cluster/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal::launch {

inline constexpr unsigned k_most_nodes = 256;
/// Where the transport's part begins.
inline constexpr std::size_t k_world_header_bytes = std::size_t{64} << 10;

enum class node_state : std::uint32_t { absent, joining, joined, left };

struct node_record {
  std::atomic<node_state> state;  // partners: the other nodes' join() and watch
  std::int32_t pid;
  std::uint64_t code_fingerprint;  // hashes; see join()
  std::uint64_t settings_fingerprint;
  char settings[144];  // as text, for the error message when they differ
};

class world {
public:
  /// `memory`: at least k_world_header_bytes, shared by all nodes, zero at first.
  explicit world(std::byte* memory) noexcept : memory_(memory) {}

  struct identity {
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    std::string code;      // equal on nodes that may exchange code
    std::string settings;  // equal on nodes that fit together
  };
  void join(const identity& me, std::int64_t timeout_ns);
  void leave(std::uint32_t node) noexcept;

  node_record& at(std::uint32_t node) noexcept;
  /// Call it when a node has ended early; true for the first caller, which reports it.
  bool announce_lost(std::uint32_t node) noexcept;
  /// The node that was announced first: its number + 1; 0 if none. Partners: the others' watch.
  const std::atomic<std::uint32_t>& lost() noexcept;
  /// A signal number, set by the launcher or a node that received the signal.
  std::atomic<std::uint32_t>& interrupted() noexcept;
  std::byte* transport_memory() noexcept { return memory_ + k_world_header_bytes; }

private:
  struct header;
  header& head() noexcept;
  std::byte* memory_;
};

}  // namespace shoal::launch
