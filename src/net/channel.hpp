// SPDX-License-Identifier: Apache-2.0
// How buffers are sent: a channel leads from one domain to a domain of another node, for one class of traffic. It
// carries bytes; upper layers define their contents.
// Who may call, one thread at a time: the worker sends requests and receives replies; the thread that serves the
// domain receives requests and sends replies. None switches tasks.
// Guarantees: buffers arrive whole and in the order of post(). The number of buffers in flight is bounded: acquire()
// fails until the receiver has released one. done() counts the buffers that the receiver has released; the effects of
// their execution are visible then. post() and release() wake the other side if it is parked. Classes never wait for
// each other: a reply channel has its own slots. Tests: tests/unit/net/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lockfree/doorbell.hpp"

namespace shoal::net {

/// What handlers send has classes of its own, since they must not wait for the room that tasks take.
enum class traffic : std::uint8_t { request, reply, handler_request, handler_reply };
inline constexpr unsigned k_traffic_classes = 4;
constexpr bool is_reply(traffic t) noexcept { return t == traffic::reply || t == traffic::handler_reply; }

/// What came of out_channel::wake_deputy().
enum class deputy { impossible, woken, none_sleeps };

class out_channel {
public:
  virtual ~out_channel() = default;
  /// A buffer to fill, of capacity_words(); nullptr when too many are in flight. A second call returns the same buffer.
  virtual std::uint64_t* acquire() noexcept = 0;
  /// The same where buffers have several sizes: one for at least `words`, at most capacity_words(). Empty: none is free.
  virtual std::span<std::uint64_t> acquire_for(std::size_t /*words*/) noexcept {
    std::uint64_t* const buffer = acquire();
    return {buffer, buffer == nullptr ? 0 : capacity_words()};
  }
  /// Sends the acquired buffer, of which `words` are filled.
  virtual void post(std::size_t words) noexcept = 0;
  /// Of the largest.
  virtual std::size_t capacity_words() const noexcept = 0;
  /// Of those that are this channel's alone; larger ones it may share with others.
  virtual std::size_t own_words() const noexcept { return capacity_words(); }
  virtual std::uint64_t posted() const noexcept = 0;
  /// Another thread may ask while the worker sleeps (runtime/hang_watch): it changes nothing.
  virtual std::uint64_t done() const noexcept = 0;
  /// Wakes one of the receiving node's other workers that sleep, to serve in place of the receiver, which does not look.
  /// Impossible: that node has no other worker, or the transport cannot.
  virtual deputy wake_deputy() noexcept { return deputy::impossible; }
};

class in_channel {
public:
  virtual ~in_channel() = default;
  /// The oldest buffer that has arrived; empty if there is none.
  virtual std::span<const std::uint64_t> front() noexcept = 0;
  /// Gives the front buffer back: everything in it has been executed.
  virtual void release() noexcept = 0;
  /// Whether front() seems to have something; any thread.
  virtual bool seems_available() const noexcept = 0;
  /// Of requests, and of replies where the transport announces them, too, for the thread that serves: from now on it
  /// looks at the channel by itself.
  virtual void watch() noexcept = 0;
  /// From now on the domain announces the channel when something arrives. False: something is there, watch on.
  virtual bool unwatch() noexcept = 0;
};

/// Takes announcements of channels of requests.
class announced_to {
public:
  virtual void announced(std::uint32_t node, traffic t) noexcept = 0;

protected:
  ~announced_to() = default;
};

class mail_port;

/// What one worker communicates through. Domains of a node share nothing, if the transport has one for each worker.
class domain {
public:
  virtual ~domain() = default;
  /// Moves the messages of a transport that needs a thread for this; true if anything has arrived. An idle sibling may
  /// call it, too.
  virtual bool progress() noexcept { return false; }
  /// Whether the network itself copies from and to the memory of other nodes.
  virtual bool one_sided() const noexcept { return false; }
  /// Begins a copy between memory of this process and the segment of `node`; no thread of `node` takes part. Sets the
  /// flag (release), in this call or in progress(), once the data has arrived. False: refused, nothing was started.
  virtual bool put(unsigned, std::uint64_t, const void*, std::size_t, std::atomic<bool>&) noexcept { return false; }
  virtual bool get(unsigned, std::uint64_t, void*, std::size_t, std::atomic<bool>&) noexcept { return false; }
  /// Channels are made when they are asked for: one that is not used takes no memory.
  virtual out_channel& out(unsigned node, traffic t) noexcept = 0;
  virtual in_channel& in(unsigned node, traffic t) noexcept = 0;
  /// Whether something has arrived in a channel of requests that nobody watches. Any thread.
  virtual bool announced() const noexcept = 0;
  /// For the thread that serves: tells `to` of these channels, of some perhaps again.
  virtual void take_announced(announced_to& to) noexcept = 0;
  /// To be asked by the domain's worker before it sleeps, and before it looks at what it watches itself: announced();
  /// progress() has brought to the channels what has arrived.
  virtual bool pending() noexcept { return announced(); }
  /// The doorbell that other nodes ring for this domain's worker; nullptr if the transport has none.
  virtual lockfree::doorbell<>* bell() noexcept = 0;
  virtual bool bell_is_shared() const noexcept = 0;
  /// Short messages that leave at once; nullptr: the transport has no way of its own for them.
  virtual mail_port* mail() noexcept { return nullptr; }
  /// How long its worker may park now without reading pending(); negative: until the bell rings.
  virtual std::int64_t longest_sleep_ns() noexcept { return -1; }
};

/// "3 buffers of requests to it not executed".
std::string describe_outstanding(std::uint64_t buffers);

/// How much memory a network library had to register; a segment counts as often as domains wanted it for themselves.
struct registered_memory {
  std::uint64_t times = 0;
  std::uint64_t bytes = 0;
};

/// A node's buffers. Those that have been used keep their memory.
struct buffer_memory {
  std::uint64_t reserved_bytes = 0;  // of all channels that lead to other nodes
  std::uint64_t resident_bytes = 0;  // of these, in pages of this process
};

/// What has left a node over routes so far.
struct route_counts {
  std::uint64_t begun = 0;      // blocks of its own workers
  std::uint64_t handed_on = 0;  // blocks of other nodes, on a further hop
  std::uint64_t buffers = 0;    // with these blocks
};

/// Connects one node to the others: a domain for each of its workers.
class transport {
public:
  virtual ~transport() = default;
  virtual const char* name() const noexcept = 0;
  virtual domain& at(unsigned worker) noexcept = 0;
  /// After the last operation of this node's workers: sends pending replies; losses are not reported any more. In order:
  /// the other nodes end, too, and this one waits for those that need it to hand on messages.
  virtual void finish(bool /*in_order*/) noexcept {}
  /// Describes the requests that a node has not answered yet, for the report of its loss; may be out of date.
  virtual std::string outstanding(std::uint32_t) const { return {}; }
  virtual registered_memory registered() const noexcept { return {}; }
  /// Nothing without routes. Any thread.
  virtual route_counts counts_of_routes() const { return {}; }
  /// Any thread. Reads /proc: milliseconds.
  virtual buffer_memory buffers() const { return {}; }
};

}  // namespace shoal::net
