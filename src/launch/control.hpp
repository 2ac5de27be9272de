// SPDX-License-Identifier: Apache-2.0
// How the processes of a job that share no memory find, greet and watch each other: each has one connection (TCP) to
// the hub, which runs in the launcher (`shoal run --hosts`) or beside node 0. Only bytes that say who, where and whether
// still alive travel here; everything else goes over the network of net/.
// Who may call: the thread that makes the job until the service thread takes over; then watch() and leave() that
// thread. Blocks its thread; never called by tasks.
// Guarantees: exchange() returns on all nodes or throws on all; a node that ends, is stopped, or is cut off for longer
// than the limit is announced to all others once; a connection without the job's secret is refused and logged.
// Shown by tests/unit/launch/control_test.cpp, tests/cluster/hosts_test.cpp.
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
  std::string address;                         // to listen on; empty: 127.0.0.1. Nothing listens elsewhere
  std::int64_t silence_ns = 30'000'000'000;    // a node that says nothing for so long is lost; 0: never
  std::int64_t start_ns = 30'000'000'000;      // for all to have come
};

/// Listens until destroyed, by a thread of its own.
class hub {
public:
  explicit hub(const hub_options& options);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;
  const hub_place& place() const noexcept;
  /// Tells all nodes to end because of this signal.
  void interrupt(int signal) noexcept;

private:
  class service;
  std::unique_ptr<service> service_;
};

/// Why a node should leave.
struct loss {
  std::uint32_t node = 0;
  std::string why;  // "node 1 (host b, process 123) has ended before its time"
  int signal = 0;   // not a loss: the job was told to stop by this signal
};

class control {
public:
  struct identity {
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    std::string code;      // equal on nodes that may exchange code
    std::string settings;  // equal on nodes that fit together
  };
  /// Connects, and waits for all nodes. Throws a sentence if the hub cannot be reached, refuses, or nodes do not fit
  /// together.
  control(const hub_place& place, const identity& me, std::int64_t timeout_ns);
  ~control();
  control(const control&) = delete;
  control& operator=(const control&) = delete;

  /// What each node gives, by node. Collective: all nodes in the same order.
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine);
  /// This node has done its part: its end is no loss.
  void leave() noexcept;
  /// Waits for news at most `timeout_ns`, or until `wake_descriptor` is readable; sends signs of life meanwhile, so it
  /// must be called again and again.
  std::optional<loss> watch(std::int64_t timeout_ns, int wake_descriptor) noexcept;
  /// Tells the others, through the hub, that this node cannot reach `node`.
  void announce_lost(std::uint32_t node, std::string_view why) noexcept;
  /// "node 1 (host b, process 123)".
  std::string describe(std::uint32_t node) const;

private:
  class connection;
  std::unique_ptr<connection> connection_;
};

}  // namespace shoal::launch
