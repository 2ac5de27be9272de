// SPDX-License-Identifier: Apache-2.0
// How the processes of a job without shared memory find and watch each other: each has one TCP connection to the hub,
// which runs in the launcher (`shoal run --hosts`) or beside node 0. Only addresses, settings and signs of life are
// sent here; everything else goes over the network of net/.
// Who may call: the thread that makes the job, until the service activity takes over; then that calls watch() and
// leave(). Blocks its thread; never called by tasks.
// Guarantees: exchange() returns the same parts on all nodes; if a node is lost meanwhile, it may return on some and
// throw on others. A node that ends, is stopped, or is unreachable for longer than the limit is announced to all once.
// A connection without the job's secret is refused and logged.
// Tests: tests/unit/launch/control_test.cpp, tests/cluster/transports_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::launch {

/// Where the hub is, as one word for an environment variable or a launcher's key-value space:
/// "secret@host:port" (secret: 32 hexadecimal digits; an IPv6 host in brackets).
struct hub_place {
  std::string host;
  std::uint16_t port = 0;
  std::string secret;
  std::string text() const;
  /// Throws errc::bad_input.
  static hub_place parse(std::string_view text);
};

struct hub_options {
  std::uint32_t nodes = 1;
  std::string address;                        // to listen on; empty: 127.0.0.1. Nothing listens elsewhere
  std::int64_t silence_ns = 30'000'000'000;   // a node that says nothing for so long is lost; 0: never
  std::int64_t start_ns = 30'000'000'000;     // for all to have come
  std::int64_t handshake_ns = 2'000'000'000;  // for a connection to prove the secret
  std::int64_t linger_ns = 3'000'000'000;     // at the end, for nodes that have not left yet
};

/// In loss::node: no single node is to blame, or the one that is runs the hub and is none.
inline constexpr std::uint32_t k_no_node = ~std::uint32_t{0};

/// Why a node should leave.
struct loss {
  std::uint32_t node = 0;
  std::string why;  // "node 1 (host b, process 123) has ended before its time"
  int signal = 0;   // not a loss: this signal stopped the job
};

enum class presence : std::uint8_t { absent, present, left, gone };

/// Listens until destroyed, by a thread of its own; so that the end is no loss to nodes that are about to leave, the
/// destructor waits for them at most `linger_ns`. Any thread may call.
class hub {
public:
  /// Throws shoal::error if it cannot listen.
  explicit hub(const hub_options& options);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;
  const hub_place& place() const noexcept;
  /// Tells all nodes to end because of this signal.
  void interrupt(int signal) noexcept;
  /// The launcher reports that a node's process has ended. True if this is the first loss: it is announced to all.
  bool announce_lost(std::uint32_t node, std::string_view why) noexcept;
  /// The first loss, or why the job did not begin.
  std::optional<loss> lost() const;
  /// Becomes readable once lost() reports a loss.
  int descriptor() const noexcept;
  presence at(std::uint32_t node) const;
  /// "node 1 (host b, process 123)"; before it has come: "node 1".
  std::string describe(std::uint32_t node) const;

private:
  class service;
  std::unique_ptr<service> service_;
};

/// The address that hub_options::address should have: 127.0.0.1 for nodes of one machine, else the one by which this
/// machine's name resolves, or, where that is a loopback address, that of its first network. Throws shoal::error.
std::string default_hub_address(bool one_machine);

class control {
public:
  struct identity {
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    std::string code;      // equal on nodes that may exchange code
    std::string settings;  // equal on nodes that fit together
  };
  /// Connects, and waits for all nodes. Throws shoal::error if the hub cannot be reached, refuses, or nodes do not fit
  /// together.
  control(const hub_place& place, const identity& me, std::int64_t timeout_ns);
  ~control();
  control(const control&) = delete;
  control& operator=(const control&) = delete;

  /// The parts of all nodes, by node. Collective: all nodes make these calls in the same order.
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine);
  /// This node has done its part: its end is no loss.
  void leave() noexcept;
  /// Waits for news at most `timeout_ns`, or until `wake_descriptor` is readable; sends signs of life meanwhile, so it
  /// must be called again and again.
  std::optional<loss> watch(std::int64_t timeout_ns, int wake_descriptor) noexcept;
  /// From now on the silence of this node means that it is lost. The hub is told at once, so also if this process stops
  /// before another thread's first watch(), which says the same.
  void live_regularly() noexcept;
  /// Readable when watch() has something to read; -1 once the connection has ended. Who calls watch() may call this.
  int descriptor() const noexcept;
  /// Tells all, through the hub, that this node cannot reach `node`; its own watch() tells which loss the hub heard of
  /// first, and only then should it leave. Any thread may call.
  void announce_lost(std::uint32_t node, std::string_view why) noexcept;

private:
  class connection;
  std::unique_ptr<connection> connection_;
};

}  // namespace shoal::launch
