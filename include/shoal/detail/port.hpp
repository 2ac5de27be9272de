// SPDX-License-Identifier: Apache-2.0
// A worker's access to memory: the mapped segments, the streams of commands to nodes whose memory is not mapped, the
// window of deferred accesses to mapped memory, and the list of pending replies.
// Who may call: tasks, on their worker. make_room, fetch, settle_node and settle_all may switch tasks; the rest do not.
// Guarantees: replies arrive in the order of the requests to a node, so a reply needs no identification.
// The window: an access to mapped memory starts with a prefetch and is executed k_window accesses later, so the
// processor always has that many cache misses in flight. Measured: 2.4 times the rate of single accesses.
// Tests: tests/unit/remote/, tests/unit/array/, tests/cluster/.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/stream.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::array {
class node_memory;
}
namespace shoal::remote {
class node_calls;
class node_ports;
}  // namespace shoal::remote
namespace shoal::collectives {
class algorithm_table;
}  // namespace shoal::collectives
namespace shoal::cluster {
class loop_stops;
class node_promises;
class node_teams;
class work_moves;
}  // namespace shoal::cluster

namespace shoal::detail {

/// What a layer above keeps for a node; see node_context::above.
struct node_extension {
  node_extension() = default;
  node_extension(const node_extension&) = delete;
  node_extension& operator=(const node_extension&) = delete;
  virtual ~node_extension() = default;
};

/// The state that all workers of one node share. `runtime` fills it before the workers start; it is constant from then
/// on, except for `stop` and `above`. The layers above `remote` find their own objects here.
struct node_context {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  std::byte* const* bases = nullptr;  // by node: where its segment is mapped here; nullptr: only by messages
  const std::atomic<std::uint32_t>* generations = nullptr;  // by array slot: which allocation it holds; 0: none
  const std::atomic<std::uint8_t>* readers = nullptr;       // by array slot: its read caches; in checked builds
  remote::node_calls* calls = nullptr;
  remote::node_ports* ports = nullptr;
  array::node_memory* memory = nullptr;
  cluster::node_teams* teams = nullptr;
  cluster::loop_stops* stops = nullptr;
  cluster::node_promises* promises = nullptr;
  cluster::work_moves* moves = nullptr;
  const collectives::algorithm_table* algorithms = nullptr;
  bool restarted = false;  // the job is to go on from a checkpoint
  // The task that waits for node 0's message to stop. Partners: that task, and the worker that executes the message.
  std::atomic<suspended*> stop{nullptr};
  // The objects of a C interface above `cluster`, made by the first task that needs them; destroyed with the node.
  // Partners: the tasks that make and use them.
  std::atomic<node_extension*> above{nullptr};
};

/// The destination of replies: how to use their words, in the upper 4 bits, and a pointer. value_: to values of that
/// many bytes; tally: added to a count; called: to a reply_receiver.
enum class reply_kind : std::uint8_t { value_1, value_2, value_4, value_8, tally, task, bulk, runs, called };

/// What takes the words of a reply itself.
struct reply_receiver {
  /// Called on the worker that has asked; must not wait.
  void (*arrived)(reply_receiver& self, const std::uint64_t* words) noexcept = nullptr;
  std::uint64_t words = 0;
};

/// Where the replies of a node go, oldest first. An entry of values or of a tally is for up to 4096 words: their number
/// less one is below the kind, and the values lie one behind the other. A bulk reply has two entries: the second has its
/// bytes. One of runs has four: the last two have the bytes of a run (above bit 32 the unit of copying), and those from
/// run to run.
/// Room is made before the command is written, since it may throw: a command whose reply nobody expects would give all
/// later replies to the wrong targets. Between reserve() and the last push() the task does not leave.
class reply_list {
public:
  /// Room for `entries` more. May throw std::bad_alloc; then nothing has changed.
  void reserve(std::uint64_t entries) {
    if (tail_ - head_ + entries > mask_ + 1) [[unlikely]]  // also if there is no ring yet
      grow();
  }
  /// Not values.
  void push(reply_kind kind, const void* target) noexcept {
    next_ = k_no_next;
    push_word(entry(kind, target));
  }
  /// The next word goes to `target`, as a value or to a tally. Mostly it is the next of a row: then the entry of the
  /// others is for this one, too. May throw std::bad_alloc, like reserve().
  void expect(reply_kind kind, const void* target) {
    const std::uint64_t word = entry(kind, target);
    if (word == next_ && (ring_[(tail_ - 1) & mask_] & k_rest) != k_rest) [[likely]] {
      ring_[(tail_ - 1) & mask_] += k_one;
    } else {
      reserve(1);
      push_word(word);
    }
    next_ = word + bytes_of(kind);
  }
  /// The next `count` words, at least 1 and at most k_most_row, go to a row of values.
  void expect_row(reply_kind kind, const void* target, std::uint64_t count) {
    reserve(1);
    push_word(entry(kind, target) + (count - 1) * k_one);
    next_ = k_no_next;
  }
  void push_word(std::uint64_t word) noexcept {
    SHOAL_CHECK(tail_ - head_ < mask_ + 1, "a reply is expected for which no room was reserved");
    ring_[tail_++ & mask_] = word;
  }
  std::uint64_t pop() noexcept { return ring_[head_++ & mask_]; }
  std::uint64_t peek(std::uint64_t ahead) const noexcept { return ring_[(head_ + ahead) & mask_]; }
  /// Stores as many of the words [at, end) as are for values and tallies; returns where it stopped.
  const std::uint64_t* take_values(const std::uint64_t* at, const std::uint64_t* end) noexcept {
    std::uint64_t* const ring = ring_.get();
    const std::uint64_t mask = mask_;
    std::uint64_t head = head_;
    const std::uint64_t tail = tail_;
    while (at < end && head != tail) {
      std::uint64_t& next = ring[head & mask];
      const reply_kind kind = kind_of(next);
      if (kind > reply_kind::tally) break;
      const std::uint64_t expected = (next & k_rest) / k_one + 1;
      const std::uint64_t n = std::min<std::uint64_t>(expected, static_cast<std::uint64_t>(end - at));
      switch (kind) {
        case reply_kind::value_8: store_row(target_of<std::uint64_t>(next), at, n); break;
        case reply_kind::value_4: store_row(target_of<std::uint32_t>(next), at, n); break;
        case reply_kind::value_2: store_row(target_of<std::uint16_t>(next), at, n); break;
        case reply_kind::value_1: store_row(target_of<std::uint8_t>(next), at, n); break;
        default:
          for (std::uint64_t k = 0; k < n; ++k) *target_of<std::uint64_t>(next) += at[k];
      }
      at += n;
      if (n < expected) {
        next += n * bytes_of(kind) - n * k_one;
        break;
      }
      ++head;
    }
    head_ = head;
    if (head == tail) next_ = k_no_next;
    return at;
  }
  /// The replies that were expected so far have arrived when popped() reaches this. Those expected later have entries of
  /// their own.
  std::uint64_t mark() noexcept {
    next_ = k_no_next;
    return tail_;
  }
  std::uint64_t popped() const noexcept { return head_; }
  bool empty() const noexcept { return head_ == tail_; }

  static reply_kind kind_of(std::uint64_t entry) noexcept { return static_cast<reply_kind>(entry >> 60); }
  template <class T>
  static T* target_of(std::uint64_t entry) noexcept {
    return reinterpret_cast<T*>(entry & (k_one - 1));
  }
  static constexpr std::uint64_t k_most_row = 4096;

private:
  static std::uint64_t entry(reply_kind kind, const void* target) noexcept {
    return static_cast<std::uint64_t>(kind) << 60 | reinterpret_cast<std::uintptr_t>(target);
  }
  static std::uint64_t bytes_of(reply_kind kind) noexcept {
    return kind == reply_kind::tally ? 0 : std::uint64_t{1} << static_cast<unsigned>(kind);
  }
  template <class T>
  static void store_row(T* to, const std::uint64_t* from, std::uint64_t count) noexcept {
    if (count == 1) {
      *to = static_cast<T>(*from);
      return;
    }
    for (std::uint64_t k = 0; k < count; ++k) to[k] = static_cast<T>(from[k]);
  }

  static constexpr std::uint64_t k_one = std::uint64_t{1} << 48;  // a word more
  static constexpr std::uint64_t k_rest = (k_most_row - 1) * k_one;
  static constexpr std::uint64_t k_no_next = ~std::uint64_t{0};
  [[gnu::noinline, gnu::cold]] void grow();

  static constexpr std::size_t k_initial = 1024;
  std::unique_ptr<std::uint64_t[]> ring_;  // from the first use on
  std::uint64_t mask_ = ~std::uint64_t{0};
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t next_ = k_no_next;  // an entry that continues the row of the last one
};

inline void run_nothing(void*, std::uint64_t, void*) noexcept {}

/// An access to mapped memory that has been begun by a prefetch.
struct deferred_access {
  void (*run)(void* address, std::uint64_t value, void* target) noexcept = run_nothing;
  void* address = nullptr;
  std::uint64_t value = 0;
  void* target = nullptr;
};

inline constexpr std::size_t k_window = 32;

/// What one worker keeps per other node.
struct alignas(64) peer_port {
  stream requests;
  reply_list replies;
  bool awaited = false;  // tasks wait for commands in the open buffer
  // The last message begun in the open buffer that may grow: its header is so many words before the stream's limit. 0:
  // there is none.
  std::uint32_t growing = 0;
};

/// What tasks of a worker have begun and not written to streams yet, so that more can be combined with it. In the list
/// of the worker's port from its first operation on; the waits for asynchronous operations write it first.
struct withheld {
  /// Begins to write what is there now, or goes on where it had no room. Does not wait. k_all_written: that is done;
  /// else the node for which there is no room.
  std::uint32_t (*write)(withheld&, struct port&) noexcept = nullptr;
  withheld* next = nullptr;
  bool listed = false;
};
inline constexpr std::uint32_t k_all_written = ~std::uint32_t{0};

/// What makes an access to mapped memory more than the access.
enum unusual_access : std::uint8_t {
  k_attention = 1,  // set by the service activity: poll, and send old buffers
  k_exclusive = 2,  // only this worker accesses this node's memory: plain modifications suffice
};

struct port {
  std::byte* const* bases = nullptr;  // copies of the context's, for the fast path
  peer_port* peers = nullptr;         // by node
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  std::atomic<std::uint8_t> unusual{0};  // bits of unusual_access; one test per access for both
  std::uint64_t async_issued = 0;
  withheld* withholding = nullptr;  // those of this worker that are not empty; empty in the port of handlers
  std::uint64_t by_network_bytes = ~std::uint64_t{0};  // copies of this size and more are one-sided transfers
  std::uint64_t window_next = 0;
  std::uint64_t window_drained = 0;  // window_next when the window was last empty
  deferred_access window[k_window];
  node_context* context = nullptr;  // of the node; never null
  port* handlers = nullptr;         // for what handlers issue that this worker executes; that port itself: the same
  const char* handler = nullptr;    // of that port: the name of the handler that runs
  unsigned handler_depth = 0;       // of that port: handlers that run, one within the other

protected:
  port() = default;
  ~port() = default;
};

inline constexpr const char* k_needs_job =
    "this is for tasks of a job: call it from what shoal::run has started; pools have no global memory";

inline port& this_port() noexcept {
  SHOAL_CHECK(t_port != nullptr, k_needs_job);
  return *t_port;
}
/// The same where a test more costs nothing that counts.
inline port& port_here() noexcept {
  SHOAL_ASSERT(t_port != nullptr, k_needs_job);
  return *t_port;
}

/// Sends the full buffer for `node` off and opens another with room for `words`. Serves messages; may switch tasks.
void make_room(port& p, std::uint32_t node, std::size_t words);
/// The same without waiting, and for tasks only: false if there is no free buffer. Neither serves messages nor
/// switches.
bool try_make_room(port& p, std::uint32_t node, std::size_t words) noexcept;
/// Waits for the reply to the value-returning command just written to `node`, for which there is room in the list of
/// replies (write_command makes it). Switches tasks.
std::uint64_t fetch(port& p, std::uint32_t node);
/// Says that a task waits for what is in the open buffer for `node`: it is sent when the worker's turns write no more.
void await_buffer(port& p, std::uint32_t node) noexcept;
/// Waits until all that this worker has written to `node` so far has been executed, and replied to. May switch tasks.
void settle_node(port& p, std::uint32_t node);
/// The same for all nodes and the window; `with_handlers`: also for what its handlers have written. May switch tasks.
void settle_all(port& p, bool with_handlers = false);
/// The same for all that the workers of this node, their tasks and handlers, have begun before. Each worker must once be
/// between two tasks, or in a wait. Switches tasks.
void settle_workers();
/// Begins a copy between memory of this process and the part of `node`, by the network itself; settle_all() waits for
/// it. May switch tasks when many are in flight. False: the network refuses, and nothing was done.
bool put_by_network(port& p, std::uint32_t node, std::uint64_t offset, const void* from, std::size_t bytes);
bool get_by_network(port& p, std::uint32_t node, std::uint64_t offset, void* to, std::size_t bytes);
/// Does the deferred accesses.
void drain_window(port& p) noexcept;
/// Pushes out all that is buffered; waits for nothing.
void flush_all(port& p) noexcept;
/// Looks at the messages. Does not switch.
void poll_port(port& p) noexcept;

/// To be called on each access that needs no message: keeps this node serving others. Whether modifications may be
/// plain.
inline bool attend(port& p) noexcept {
  const std::uint8_t unusual = p.unusual.load(std::memory_order_relaxed);
  if (unusual == 0) [[likely]]
    return false;
  if ((unusual & k_attention) != 0) poll_port(p);
  return (unusual & k_exclusive) != 0;
}

/// Whether the calling code runs in a handler.
inline bool is_for_handlers(const port& p) noexcept { return p.handlers == &p; }
/// `w` has its first operation since it was written. Not in handlers.
inline void withhold(port& p, withheld& w) noexcept {
  if (w.listed) return;
  w.listed = true;
  w.next = p.withholding;
  p.withholding = &w;
}
/// Before the first handler of a worker.
void prepare_handlers(port& p);
/// Ends the process with a message if `p` is for handlers: a bare verb waits for another node.
void refuse_bare_verb(const port& p) noexcept;

/// While it exists, a handler runs, and what its worker issues goes through the port for handlers, which never waits. A
/// task that leaves meanwhile ends the process with a message.
class handler_scope {
public:
  handler_scope(worker_base& w, const char* name) : w_(w), outer_(w.port) {
    const tsan_ignore_scope ignore;
    port& own = *outer_->handlers;
    if (own.peers == nullptr) [[unlikely]]
      prepare_handlers(own);
    outer_name_ = std::exchange(own.handler, name);
    ++own.handler_depth;
    w.looks_before_leaving |= worker_base::k_in_handler;
    w.port = t_port = &own;
  }
  handler_scope(const handler_scope&) = delete;
  handler_scope& operator=(const handler_scope&) = delete;
  ~handler_scope() {
    const tsan_ignore_scope ignore;
    port& own = *outer_->handlers;
    if (own.window_drained != own.window_next) drain_window(own);
    own.handler = outer_name_;
    if (--own.handler_depth == 0) w_.looks_before_leaving &= static_cast<std::uint8_t>(~worker_base::k_in_handler);
    w_.port = t_port = outer_;
  }

private:
  worker_base& w_;
  port* const outer_;
  const char* outer_name_;
};

/// Room for a command of `words` to `node`; the caller writes them and advances the cursor.
inline stream& room_for(port& p, std::uint32_t node, std::size_t words) {
  stream& s = p.peers[node].requests;
  if (s.cursor + words > s.limit) [[unlikely]]
    make_room(p, node, words);
  return s;
}

/// Whether there is room for them now. Neither waits nor switches.
inline bool try_room_for(port& p, std::uint32_t node, std::size_t words) noexcept {
  const stream& s = p.peers[node].requests;
  return s.cursor + words <= s.limit || try_make_room(p, node, words);
}

}  // namespace shoal::detail
