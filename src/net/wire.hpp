// SPDX-License-Identifier: Apache-2.0
// The interface of a network library: endpoints that send whole messages, and the functions of a plugin. A wire has no
// classes, credits or workers: message_transport.hpp implements channels with it.
// Who may call: a network: its node's thread, at start; a wire: the holder of its domain's lock, one thread at a time.
// Only open() and connect() block; nothing switches tasks.
// Requirements: messages between two wires arrive whole and in the order of send(); a wire keeps messages that it
// cannot send yet until progress() sends them; only progress() delivers. A wire may be in a plugin: no exception leaves
// a noexcept function, and it needs nothing of the core but this header.
// Tests: tests/unit/net/message_transport_test.cpp, tests/unit/net/plugin_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal::net {

/// Travels with each message. Three words, in front of those that the message consists of.
struct message_label {
  std::uint16_t lane = 0;  // the worker's number, the same at both ends
  std::uint8_t kind = 0;   // of message_kind
  std::uint8_t unused = 0;
  std::uint32_t from = 0;  // the sender's node
  // Of the receiver's messages, by class of traffic, so far; the low 32 bits.
  std::uint32_t executed[4] = {0, 0, 0, 0};
};
static_assert(sizeof(message_label) == 24);
inline constexpr std::size_t k_label_words = 3;

/// A class of traffic, an acknowledgement alone, or a nudge: it asks a worker that sleeps to look at what its siblings do
/// not; it answers that it was asked.
enum class message_kind : std::uint8_t {
  request,
  reply,
  handler_request,
  handler_reply,
  acknowledgement,
  nudge,
  nudged
};

/// Whether a node of a job of `nodes` may send this to node `here`. Requests and replies have words, the others have
/// none.
constexpr bool is_sound(const message_label& l, std::size_t words, std::uint32_t here, std::size_t nodes,
                        std::size_t lanes) noexcept {
  return l.from < nodes && l.from != here && l.lane < lanes &&
         l.kind <= static_cast<std::uint8_t>(message_kind::nudged) &&
         (l.kind < static_cast<std::uint8_t>(message_kind::acknowledgement)) == (words != 0);
}

/// A message that has arrived. `words` stay valid until give_back(token), if arrived() returned true.
struct arrival {
  message_label label;
  const std::uint64_t* words = nullptr;
  std::size_t count = 0;
  void* token = nullptr;
};

/// The receiver of a wire's messages and events. Called within progress() only.
class wire_user {
public:
  /// True: the caller keeps the words until give_back(). False: the wire may reuse them at once.
  virtual bool arrived(const arrival& a) noexcept = 0;
  /// The node cannot be reached any more, with the library's reason. Called at least once.
  virtual void unreachable(std::uint32_t node, const char* why) noexcept = 0;

protected:
  ~wire_user() = default;
};

/// Memory of another node, for transfers without its help.
struct remote_piece {
  std::uint32_t node = 0;
  std::uint64_t offset = 0;  // in the node's registered memory
};

class domain;

class wire {
public:
  virtual ~wire() = default;
  /// Sends a label and `count` words. In front of `words` are k_label_words that the wire may write. They are the
  /// wire's until *sent is set (release), which may be within the call. Without words (count 0) `words` and `sent` are
  /// null, and the label is copied.
  virtual void send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
                    std::atomic<bool>* sent) noexcept = 0;
  /// Moves messages on; true if anything has arrived.
  virtual bool progress(wire_user& user) noexcept = 0;
  /// Called after each progress(), when what arrived has been answered. `any`: what progress() returned.
  virtual void end_look(bool /*any*/) noexcept {}
  virtual void give_back(void* token) noexcept = 0;
  /// Whether all messages leave without further progress().
  virtual bool all_sent() const noexcept = 0;

  /// Whether put() and get() exist.
  virtual bool one_sided() const noexcept { return false; }
  /// Copy between memory of this process and registered memory of another node, without a copy in between where the
  /// network can. *done is set (release) when the data is there. False: the library refuses, and nothing was begun.
  virtual bool put(remote_piece, const void*, std::size_t, std::atomic<bool>*) noexcept { return false; }
  virtual bool get(remote_piece, void*, std::size_t, std::atomic<bool>*) noexcept { return false; }

  /// A descriptor that becomes readable when progress() has work, after arm() returned true; -1: there is none.
  virtual int event() const noexcept { return -1; }
  /// False: there is work already, call progress() first.
  virtual bool arm() noexcept { return true; }

  /// The domain of another transport that it sends through, whose bell rings when progress() has work, and how long a
  /// worker may sleep then; null: there is none.
  virtual domain* inner() noexcept { return nullptr; }
  virtual std::int64_t longest_sleep_ns() noexcept { return -1; }
};

/// One node's part of a network: as many wires as it has domains.
class network {
public:
  virtual ~network() = default;
  /// What the other nodes must know to reach this node's wires; to be exchanged among all.
  virtual std::vector<std::byte> address() = 0;
  /// With the addresses of all nodes, by node. Once, before any wire is used. Throws shoal::error.
  virtual void connect(std::span<const std::vector<std::byte>> addresses) = 0;
  virtual wire& at(unsigned domain) noexcept = 0;
  /// In words, for people: "UCX 1.13.1 (posix, tcp)".
  virtual std::string describe() const = 0;
  /// Asked after the node's last message, until it is true; meanwhile the wires' progress() is called, since others may
  /// need it.
  virtual bool may_leave() noexcept { return true; }
  /// Memory of buffers beside those of channels: reserved, and in memory.
  virtual std::pair<std::uint64_t, std::uint64_t> buffer_bytes() const { return {0, 0}; }
  /// How much memory was registered: a segment counts as often as there are domains that want it for themselves.
  virtual std::uint64_t registrations() const noexcept { return 0; }
  virtual std::uint64_t registered_bytes() const noexcept { return 0; }
};

struct network_request {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  unsigned domains = 1;          // per node
  std::size_t most_words = 0;    // of a message
  std::size_t messages = 0;      // that may be in flight to a domain from one node, of one kind and lane
  unsigned lanes = 1;            // per domain
  std::byte* segment = nullptr;  // to be registered for put() and get(); null: not wanted
  std::uint64_t segment_bytes = 0;
  bool one_machine = false;        // all nodes are here: nothing needs to be reachable from elsewhere
  std::uint64_t token = 0;         // of the job; a message without it is a stranger's
  bool allocate = false;           // replace the segment's pages by memory of the library, until the network ends
  bool tcp_transfers = false;      // UCX: put() and get() also where they may be emulated over TCP
  bool shared_context = false;     // the wires of a node share a context; else nothing
  bool own_communicators = false;  // MPI: each domain has a communicator of its own
};

/// What a plugin's file exports as `shoal_net_plugin`.
struct net_plugin {
  std::uint32_t interface = 0;  // k_net_interface
  const char* version = "";     // of Shoal
  const char* name = "";        // of the transport: "ucx", "mpi"
  const char* made_for = "";    // the library, in words
  /// Throws shoal::error.
  std::unique_ptr<network> (*open)(const network_request&) = nullptr;
  /// If the library's own launcher may have started the processes (MPI), else null: tells which node of how many this
  /// process is, and brings node 0's word to all. Collective. Throws shoal::error.
  std::string (*share)(const std::string& word_of_node_0, std::uint32_t& node, std::uint32_t& nodes) = nullptr;
};
inline constexpr std::uint32_t k_net_interface = 3;
inline constexpr const char* k_net_plugin_symbol = "shoal_net_plugin";

}  // namespace shoal::net
