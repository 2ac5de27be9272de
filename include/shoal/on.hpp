// SPDX-License-Identifier: Apache-2.0
// Calls on nodes: on(node, f) runs f on the node as a task and returns its result; async_on returns a shoal::future.
//   const double load = shoal::on(3, [] { return measure_load(); });
// Who may call: tasks. on() switches; async_on may switch when the buffers to the node are full.
// Guarantees: f and its result are copied into messages (trivially copyable, below 11 KiB). f may wait. Its
// asynchronous operations are complete before its result arrives. Its exception is thrown by the wait for the result,
// as shoal::remote_error (on this node too). A call that is made in a stop_scope belongs to a scope there, which stops with
// it: f asks shoal::stop_requested().
// Shown by tests/cluster/call_test.cpp.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "shoal/detail/answer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/loop_stop.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/future.hpp"
#include "shoal/sync.hpp"

namespace shoal {

/// The node that this task runs on, and the number of nodes.
inline std::uint32_t node_id() noexcept { return detail::port_here().node; }
inline std::uint32_t node_count() noexcept { return detail::port_here().nodes; }
/// The worker of this node that this task runs on, and the number of workers of the node.
inline unsigned worker_id() noexcept { return detail::worker_here().index; }
inline unsigned worker_count() noexcept { return detail::worker_here().siblings; }

namespace detail {

/// A body that can be called on a node: the node has its own copy, which the body may change.
template <class F>
using result_there = std::invoke_result_t<F&>;

template <class F>
std::size_t run_called(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  F f = packed<F>::read(arguments.data());
  using result = result_there<F>;
  if constexpr (std::is_void_v<result>) {
    f();
    return 0;
  } else {
    packed<result>::write(f(), answer);
    return packed<result>::k_words;
  }
}

/// The same for a call that was made in a stop_scope: in a scope of its own, which stops with that one.
template <class F>
std::size_t run_called_in_scope(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  const share_stop stop(from, arguments[0]);
  const within_scope inside(&stop);
  return run_called<F>(from, arguments.subspan(1), answer);
}

template <class R>
struct answer_room {
  std::array<std::uint64_t, packed<R>::k_words> words;
  std::uint64_t* data() noexcept { return words.data(); }
  static constexpr std::size_t size() noexcept { return packed<R>::k_words; }
  R value() const noexcept { return packed<R>::read(words.data()); }
};
template <>
struct answer_room<void> {
  std::uint64_t* data() noexcept { return nullptr; }
  static constexpr std::size_t size() noexcept { return 0; }
  void value() const noexcept {}
};

/// `stop` forwards requests to stop, if the caller is in a scope; it lives until the call has ended.
template <class F, class Room>
void begin_on(completion& calls, std::uint32_t node, const F& f, Room& room, std::unique_ptr<stop_forwarding>& stop) {
  SHOAL_ASSERT(node < this_port().nodes, "there is no such node; nodes are numbered from 0 to node_count() - 1");
  check_capture(f);
  std::array<std::uint64_t, packed<F>::k_words + 1> words;
  packed<F>::write(f, words.data() + 1);
  const std::span<const std::uint64_t> arguments(words);
  const scope* const mine = worker_here().scope;
  if (mine == nullptr) [[likely]]
    return begin_call(calls, node, callee_of<run_called<F>>(), arguments.subspan(1), room.data(), room.size());
  stop = std::make_unique<stop_forwarding>(mine->token(), node);
  words[0] = stop->id();
  begin_call(calls, node, callee_of<run_called_in_scope<F>>(), arguments, room.data(), room.size());
}

/// A future that the reply to a call completes, on the worker that receives the reply; a continuation of the future is
/// a task of that worker.
template <class R>
struct on_state final : future_value<R>, completion_callback {
  on_state() noexcept : future_value<R>(k_kind), completion_callback(answered) {}

  void fill() noexcept {
    this->thrown = calls.take_failure();
    if (this->thrown) return;
    if constexpr (std::is_void_v<R>)
      this->value.emplace();
    else
      this->value.emplace(room.value());
  }
  static void answered(completion_callback& c) noexcept {
    auto& self = static_cast<on_state&>(c);
    self.fill();
    finish_elsewhere(self);  // the state may be gone
  }
  static constexpr future_kind k_kind{.step = nullptr, .dispose = dispose_of<on_state>};

  answer_room<R> room;
  std::unique_ptr<stop_forwarding> stop;
  completion calls;
};

/// The future of a state whose reply is on its way, or has come.
template <class R>
future<R> expect_reply(on_state<R>& made) noexcept {
  if (!made.calls.call_when_done(made)) {  // it came while the call was being sent
    made.fill();
    finish_elsewhere(made);  // no other worker knows it yet
  }
  return future_access::make<R>(&made);
}

}  // namespace detail

/// Runs `f` on `node` and waits for its result.
template <class F>
requires std::invocable<F&>
auto on(std::uint32_t node, const F& f) -> detail::result_there<F> {
  detail::answer_room<detail::result_there<F>> room;
  std::unique_ptr<detail::stop_forwarding> stop;
  detail::completion calls;  // after the room: waits before it goes
  detail::begin_on(calls, node, f, room, stop);
  calls.wait_and_rethrow();
  return room.value();
}

namespace detail {

/// Runs `f` as a handler.
template <class F>
void run_in_place(worker_base& w, const F& f) noexcept {
  const handler_scope as_handler(w, typeid(F).name());
#ifdef SHOAL_CHECKED
  const no_wait scope;
#endif
  try {
    F copy = f;
    copy();
  } catch (...) {
    refuse_exception(typeid(F).name());
  }
}

template <class F>
void receive_in_place(const arrival& a) noexcept {
  run_in_place(a.worker, packed<F>::read(a.payload.data()));
}

/// Handlers of a node that call each other there run on one stack up to this depth.
inline constexpr unsigned k_most_handlers_within = 8;
inline constexpr std::size_t k_most_handler_words = 64;

}  // namespace detail

/// Executes `f` on `node` as a message handler, without a result: for millions of calls with a few memory accesses
/// each. `f` has at most 512 bytes and must neither throw nor wait: a wait that would suspend it (for a latch, a mutex, a
/// future, on(), quiesce(), by yield()) ends the program with a message.
///   struct visit {                                     // a search that spreads from node to node
///     shoal::array_ref<int> depths;
///     std::uint64_t v;
///     int depth;
///     void operator()() const {
///       if (depths.exchange(v, depth) != 0) return;    // v is an element of this node
///       for (std::uint64_t next : neighbours(v)) shoal::async_at(depths.owner(next), visit{depths, next, depth + 1});
///     }
///   };
///   shoal::async_at(depths.owner(root), visit{depths, root, 1});
///   shoal::quiesce();                                  // all calls have been executed, on all nodes
/// In `f`, async_ verbs and async_at reach any node, in any number and depth: they never wait. Bare verbs are for
/// elements of the executing node; on others they end the program with a message. What cannot be sent yet stays in
/// memory, and tasks of the node wait at their next remote operation; beyond SHOAL_OVERFLOW_MEMORY the job ends
/// (`exhausted`) and names `f`.
/// The call is complete after wait() or the end of the loop, like an async verb; on this node at once. What `f` begins is
/// complete after shoal::quiesce() (shoal/quiesce.hpp). Each worker of the receiver executes one at a time: use atomics
/// where a node has several workers.
template <class F>
requires std::invocable<F&>
void async_at(std::uint32_t node, const F& f) {
  using packing = detail::packed<F>;
  static_assert(packing::k_words <= detail::k_most_handler_words,
                "what async_at sends has at most 512 bytes: capture less, for instance a reference to a global array "
                "(ref()) instead of data, or use async_on");
  detail::worker_base& w = detail::worker_here();
  SHOAL_ASSERT(node < node_count(), "there is no such node; nodes are numbered from 0 to node_count() - 1");
  detail::check_capture(f);
  if (node == w.port->node && w.port->handler_depth < detail::k_most_handlers_within) return detail::run_in_place(w, f);
  static const std::uint64_t code = detail::code_of(detail::receiver_of<detail::receive_in_place<F>>());
  const detail::tsan_ignore_scope ignore;
  detail::stream& s = detail::begin_message(w, node, code, packing::k_words);
  packing::write(f, s.cursor);
  s.cursor += packing::k_words;
}

/// Starts `f` on `node` and returns the future of its result, as shoal::async does: its destructor waits, then() and
/// when_all() work. get() throws the exception of `f` as shoal::remote_error.
template <class F>
requires std::invocable<F&>
auto async_on(std::uint32_t node, const F& f) -> future<detail::result_there<F>> {
  using result = detail::result_there<F>;
  auto* const made = detail::make_state<detail::on_state<result>>();
  try {
    detail::begin_on(made->calls, node, f, made->room, made->stop);
  } catch (...) {  // no memory for the message
    made->of->dispose(*made);
    throw;
  }
  return detail::expect_reply(*made);
}

}  // namespace shoal
