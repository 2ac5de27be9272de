// SPDX-License-Identifier: Apache-2.0
#include "rank/transfer.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rank/error.hpp"
#include "rank/profile.hpp"
#include "rank/wire.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::rank {
namespace {

request& request_of(posted_receive& p) noexcept { return *static_cast<request::in_queue&>(p).of; }

envelope envelope_to(const rank_state& me, const route& to) {
  if (to.context != 0) return {to.context, me.world, to.tag};
  return {to.where->context() | (to.internal ? 1U : 0U), to.where->rank_of(me), to.tag};
}

envelope envelope_from(const route& from) noexcept {
  const std::uint64_t context = from.context != 0 ? from.context : from.where->context() | (from.internal ? 1U : 0U);
  return {context, from.peer == MPI_ANY_SOURCE ? k_any : from.peer, from.tag == MPI_ANY_TAG ? k_any : from.tag};
}

// The status of a receive that takes a message sent so, and whether it fits.
std::uint64_t note_receive(request& r, const envelope& sent, std::uint64_t bytes) noexcept {
  const std::uint64_t room = r.data.bytes();
  r.source = sent.source;
  r.tag = sent.tag;
  r.bytes = std::min(bytes, room);
  if (bytes > room) [[unlikely]] {
    r.error = MPI_ERR_TRUNCATE;
    r.sent_bytes = bytes;
  }
  return r.bytes;
}

void run_delivery(detail::task& t) noexcept {
  arrive(*static_cast<message::delivery&>(static_cast<sched::errand&>(t)).of);
}

void run_completion(detail::task& t) noexcept {
  complete(*static_cast<request::completion&>(static_cast<sched::errand&>(t)).of);
}

void look_at_queues(const rank_state& r) noexcept {
  if (the_profile != nullptr) [[unlikely]]
    the_profile->at(r).look_at_queues(r.queues);
}

// Whether a message may leave its sender's buffer before it is received; then it counts.
bool goes_ahead(rank_state& me, std::uint64_t bytes, send_mode mode) noexcept {
  if (mode == send_mode::synchronous) return false;
  if (mode == send_mode::buffered) return true;
  return bytes <= k_eager_bytes &&
         me.eager_bytes.load(std::memory_order_relaxed) + bytes + k_message_bytes <= k_most_eager_bytes;
}

// Within a process a simulated machine sees no message: it is told what one takes.
void charge_copy(const rank_state& me, std::uint64_t bytes) noexcept {
  const sched::pool& pool = me.home.owner();
  pool.charge(machine::work::turn, 1);
  pool.charge(machine::work::copy, bytes / sizeof(std::uint64_t));
}

// `known`: the request of a persistent send.
request* send(rank_state& me, const buffer& data, const route& to, send_mode mode, request* known) {
  const int world = to.where->remote().world_of(to.peer);
  if (the_profile != nullptr && !to.internal) [[unlikely]]
    the_profile->at(me).count_message(world, data.bytes());
  const envelope sent = envelope_to(me, to);
  if (!me.job.is_here(world)) return send_to_node(me, data, to, sent, world, mode, known);
  rank_state& receiver = me.job.here(world);
  const bool same_worker = &receiver.home == &me.home;
  const std::uint64_t bytes = data.bytes();
  if (same_worker) {
    if (posted_receive* const p = receiver.queues.take_receive(sent); p != nullptr) {
      request& r = request_of(*p);
      if (note_receive(r, sent, bytes) != 0) copy(data, r.data);
      charge_copy(me, bytes);
      complete(r);
      if (mode == send_mode::buffered) me.leave_attached_buffer(bytes);
      return nullptr;
    }
    receiver.queues.reserve();
  }
  const bool ahead = goes_ahead(me, bytes, mode);
  charge_copy(me, ahead ? bytes : 0);
  message& m = message::make(receiver, sent, bytes, ahead);
  request* waits = nullptr;
  if (ahead) {
    pack(data, 0, m.packed(), bytes);
    count_ahead(m, me, mode);
  } else {
    waits = known != nullptr ? known : &me.pool.take(me, request_kind::send);
    note_send(*waits, me, data, to, mode);
    m.sender = waits;
  }
  if (same_worker) {
    receiver.queues.keep(m.waiting);
    look_at_queues(receiver);
    receiver.notify_probes();
  } else {
    m.to_worker.run = run_delivery;
    m.to_worker.of = &m;
    receiver.home.give_errand(m.to_worker);
  }
  return waits;
}

}  // namespace

void note_call(request& r, rank_state& me, const buffer& data, const route& with) {
  r.owner = &me;
  r.data = data;
  r.type = type_ref(data.type);
  r.where = communicator_use(*with.where, me);
  r.peer = with.peer;
  r.wanted_tag = with.tag;
  r.internal = with.internal;
  r.context = with.context;
}

void note_send(request& r, rank_state& me, const buffer& data, const route& to, send_mode mode) {
  note_call(r, me, data, to);
  r.mode = mode;
}

void count_ahead(message& m, rank_state& me, send_mode mode) noexcept {
  m.counted_by = &me;
  m.buffered = mode == send_mode::buffered;
  if (m.buffered) return;  // the call has taken room in the attached buffer
  me.eager_bytes.fetch_add(m.bytes + k_message_bytes, std::memory_order_relaxed);
}

message& message::make(rank_state& to, const envelope& sent, std::uint64_t bytes, bool packed) {
  void* const at = ::operator new(sizeof(message) + (packed ? bytes : 0));
  auto* const m = ::new (at) message;
  m->waiting.sent = sent;
  m->bytes = bytes;
  m->to = &to;
  return *m;
}

void message::end(message& m) noexcept {
  if (rank_state* const by = m.counted_by; by != nullptr) {
    if (m.buffered)
      by->leave_attached_buffer(m.bytes);
    else
      by->eager_bytes.fetch_sub(m.bytes + k_message_bytes, std::memory_order_relaxed);
  }
  m.~message();
  ::operator delete(&m);
}

request* begin_send(rank_state& me, const buffer& data, const route& to, send_mode mode) {
  if (to.peer == MPI_PROC_NULL) return nullptr;
  return send(me, data, to, mode, nullptr);
}

void start_send(request& r) {
  r.complete = false;
  r.error = MPI_SUCCESS;
  if (r.peer == MPI_PROC_NULL ||
      send(*r.owner, r.data, {r.where.get(), r.peer, r.wanted_tag, r.internal}, r.mode, &r) == nullptr)
    complete(r);
}

request& begin_receive(rank_state& me, const buffer& data, const route& from) {
  request& r = me.pool.take(me, request_kind::receive);
  note_call(r, me, data, from);
  start_receive(r);
  return r;
}

void start_receive(request& r) {
  r.complete = false;
  r.cancelled = false;
  r.matched = false;
  r.error = MPI_SUCCESS;
  r.bytes = 0;
  r.source = MPI_PROC_NULL;
  r.tag = MPI_ANY_TAG;
  if (r.peer == MPI_PROC_NULL) return complete(r);
  matching& queues = r.owner->queues;
  queues.reserve();
  r.posted.wanted = envelope_from({r.where.get(), r.peer, r.wanted_tag, r.internal, r.context});
  if (waiting_message* const w = queues.post(r.posted); w != nullptr) return receive_message(r, message::of(*w));
  look_at_queues(*r.owner);
}

message* find_message(rank_state& me, const route& from) {
  me.queues.reserve();
  waiting_message* const w = me.queues.find(envelope_from(from));
  return w == nullptr ? nullptr : &message::of(*w);
}

void take(rank_state& me, message& m) noexcept { me.queues.take(m.waiting); }

request& receive_taken(rank_state& me, const buffer& data, message& m, communicator& where) {
  request& r = me.pool.take(me, request_kind::receive);
  r.data = data;
  r.type = type_ref(data.type);
  r.where = communicator_use(where, me);
  receive_message(r, m);
  return r;
}

void await_arrival(rank_state& me, const wait_note& note) {
  waiter w;
  rank_state::probe mine{&w, me.probes};
  me.add_probe(mine);  // until it is notified, which ends the wait
  w.await(note);
}

bool cancel_receive(request& r) noexcept {
  if (r.complete || r.kind != request_kind::receive || r.matched) return false;
  r.owner->queues.cancel(r.posted);
  r.cancelled = true;
  complete(r);
  return true;
}

void arrive(message& m) noexcept {
  rank_state& to = *m.to;
  if (posted_receive* const p = to.queues.take_receive(m.waiting.sent); p != nullptr)
    return receive_message(request_of(*p), m);
  to.queues.reserve();
  to.queues.keep(m.waiting);
  look_at_queues(to);
  to.notify_probes();
}

bool receive_at_once(rank_state& to, const envelope& sent, std::span<const std::byte> bytes) noexcept {
  posted_receive* const p = to.queues.take_receive(sent);
  if (p == nullptr) return false;
  request& r = request_of(*p);
  if (const std::uint64_t taken = note_receive(r, sent, bytes.size()); taken != 0)
    unpack(bytes.data(), taken, r.data, 0);
  complete(r);
  return true;
}

void receive_message(request& r, message& m) noexcept {
  const std::uint64_t bytes = note_receive(r, m.waiting.sent, m.bytes);
  if (m.is_packed()) {
    charge_copy(*r.owner, bytes);
    if (bytes != 0) unpack(m.packed(), bytes, r.data, 0);
    if (m.fills_window) return_window(*m.to, m.node, m.bytes);
    message::end(m);
    return complete(r);
  }
  if (m.sender == nullptr) {
    r.matched = true;
    return fetch_from_node(r, m, bytes);
  }
  request& s = *m.sender;
  message::end(m);
  charge_copy(*r.owner, bytes);
  if (bytes != 0) copy(s.data, r.data);
  if (&s.owner->home == &r.owner->home)
    complete(s);
  else
    complete_from_elsewhere(s);
  complete(r);
}

void complete_from_elsewhere(request& r) noexcept {
  r.by_errand.run = run_completion;
  r.by_errand.of = &r;
  r.owner->home.give_errand(r.by_errand);
}

}  // namespace shoal::rank
