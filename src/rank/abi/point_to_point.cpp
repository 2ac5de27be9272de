// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks: send, receive, probe (MPI 5.0, chapter 3).
#include <memory>

#include "rank/abi/arguments.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

// Collects a receive; throws if it has failed.
void end_receive(request& r, MPI_Status* status) {
  if (r.error == MPI_SUCCESS) [[likely]]
    return throw_if_failed(collect(r, status));
  const std::string why = failure_text(r, r.error);
  throw mpi_error(collect(r, status), why);
}

// Of MPI_BUFFER_AUTOMATIC: messages are kept elsewhere anyway, and only counted.
constexpr std::uint64_t k_any_bytes = ~std::uint64_t{0} / 2;

// A buffered send takes room in the attached buffer until its message has been received.
void take_attached(rank_state& me, const buffer& data, const route& to, send_mode mode) {
  if (mode != send_mode::buffered || to.peer == MPI_PROC_NULL) return;
  const std::uint64_t bytes = data.bytes();
  const std::uint64_t used = me.attached_used.load(std::memory_order_relaxed);
  if (me.attached == nullptr || used + bytes > me.attached_bytes)
    throw mpi_error(MPI_ERR_BUFFER,
                    fmt::format("the attached buffer has {} bytes left, and the message needs {}; attach a "
                                "larger one with MPI_Buffer_attach",
                                me.attached_bytes - used, bytes));
  me.attached_used.fetch_add(bytes, std::memory_order_relaxed);
}

void send_now(caller& c, const buffer& data, const route& to, send_mode mode) {
  take_attached(c.me, data, to, mode);
  request* const r = begin_send(c.me, data, to, mode);
  if (r == nullptr) return;
  await(c, *r, wait_note::kind::send);
  const int error = r->error;
  c.me.pool.give_back(*r);
  throw_if_failed(error);
}

MPI_Request sending(caller& c, const buffer& data, const route& to, send_mode mode) {
  take_attached(c.me, data, to, mode);
  request* const r = begin_send(c.me, data, to, mode);
  return handle_of<MPI_Request>(r != nullptr ? *r : c.me.pool.done_send(c.me));
}

void begin_again(request& r) {
  if (r.kind == request_kind::receive) return start_receive(r);
  take_attached(*r.owner, r.data, {r.where.get(), r.peer, r.wanted_tag, false}, r.mode);
  start_send(r);
}

request& persistent(caller& c, request_kind kind, const buffer& data, const route& with) {
  request& r = c.me.pool.take(c.me, kind);
  r.complete = true;
  r.persistent = true;
  r.active = false;
  note_call(r, c.me, data, with);
  r.begin = begin_again;
  return r;
}

MPI_Request persistent_send(caller& c, const buffer& data, const route& to, send_mode mode) {
  request& r = persistent(c, request_kind::send, data, to);
  r.mode = mode;
  return handle_of<MPI_Request>(r);
}

MPI_Request persistent_receive(caller& c, const buffer& data, const route& from) {
  return handle_of<MPI_Request>(persistent(c, request_kind::receive, data, from));
}

void exchange(caller& c, const buffer& sent, const route& to, const buffer& received, const route& from,
              MPI_Status* status) {
  request& in = begin_receive(c.me, received, from);
  request* const out = begin_send(c.me, sent, to, send_mode::standard);
  await(c, in, wait_note::kind::receive);
  int error = MPI_SUCCESS;
  if (out != nullptr) {
    await(c, *out, wait_note::kind::send);
    error = out->error;
    c.me.pool.give_back(*out);
  }
  end_receive(in, status);
  throw_if_failed(error);
}

// Its status is that of the receive. `packed`: what is sent, kept until then.
MPI_Request exchanging(caller& c, const buffer& sent, const route& to, const buffer& received, const route& from,
                       std::unique_ptr<std::byte[]> packed) {
  request& whole = c.me.pool.take(c.me, request_kind::composite);
  whole.packed = std::move(packed);
  whole.parts = 2;
  request& in = begin_receive(c.me, received, from);
  whole.status_of = &in;
  join(whole, &in);
  join(whole, begin_send(c.me, sent, to, send_mode::standard));
  return handle_of<MPI_Request>(whole);
}

std::unique_ptr<std::byte[]> packed_copy(const buffer& data) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
  pack(data, 0, bytes.get(), data.bytes());
  return bytes;
}

// MPI_MESSAGE_NO_PROC: the message of MPI_PROC_NULL.
request& receive_probed(caller& c, const buffer& data, MPI_Message& handle, communicator*& where) {
  if (handle == MPI_MESSAGE_NO_PROC) {
    handle = MPI_MESSAGE_NULL;
    return begin_receive(c.me, data, {&c.me.job.world(), MPI_PROC_NULL, MPI_ANY_TAG, false});
  }
  message& m = object_of<message>(handle);
  handle = MPI_MESSAGE_NULL;
  where = m.probed_in.get();
  c.kept = communicator_ref(where);
  return receive_taken(c.me, data, m, *where);
}

void attach(caller& c, void* at, MPI_Count bytes) {
  if (bytes < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("the buffer has {} bytes, fewer than 0", bytes));
  if (c.me.attached != nullptr)
    throw mpi_error(MPI_ERR_BUFFER, "a buffer is attached already; detach it first with MPI_Buffer_detach");
  c.me.attached = static_cast<std::byte*>(at);
  c.me.attached_bytes = at == MPI_BUFFER_AUTOMATIC ? k_any_bytes : static_cast<std::uint64_t>(bytes);
}

MPI_Count bytes_attached(const caller& c) noexcept {
  return c.me.attached == MPI_BUFFER_AUTOMATIC ? 0 : static_cast<MPI_Count>(c.me.attached_bytes);
}

void* detach(caller& c) {
  if (c.me.attached == nullptr) throw mpi_error(MPI_ERR_BUFFER, "no buffer is attached");
  const wait_note note = c.note(wait_note::kind::send);
  c.me.await_attached_buffer(note);
  c.me.attached_bytes = 0;
  return std::exchange(c.me.attached, nullptr);
}

void set_status_of(const message& m, MPI_Status* status) noexcept {
  set_status(status, m.waiting.sent.source, m.waiting.sent.tag, m.bytes, false);
}

// Of MPI_PROC_NULL.
void set_status_of_none(MPI_Status* status) noexcept { set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false); }

message& await_message(caller& c, const route& from) {
  for (;;) {
    if (message* const m = find_message(c.me, from); m != nullptr) return *m;
    await_arrival(c.me, c.note(wait_note::kind::probe, from.where, from.peer, from.tag));
  }
}

MPI_Message taken(caller& c, message& m, communicator& in) {
  take(c.me, m);
  m.probed_in = communicator_use(in, c.me);
  return handle_of<MPI_Message>(m);
}

}  // namespace

extern "C" {

#include "rank/abi/narrow.inc"

#include "rank/abi/point_to_point.inc"

#include "rank/abi/large.inc"

#include "rank/abi/point_to_point.inc"

int PMPI_Probe(int source_rank, int tag, MPI_Comm comm, MPI_Status* status) {
  return enter(comm, [&](caller& c, communicator& in) {
    const route from = source(in, source_rank, tag);
    if (from.peer == MPI_PROC_NULL) return set_status_of_none(status);
    set_status_of(await_message(c, from), status);
  });
}
MPI_ABI_ALIAS(Probe)

int PMPI_Iprobe(int source_rank, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return enter(comm, [&](caller& c, communicator& in) {
    const route from = source(in, source_rank, tag);
    int& found = output(flag);
    found = 1;
    if (from.peer == MPI_PROC_NULL) return set_status_of_none(status);
    const message* const m = find_message(c.me, from);
    if (m != nullptr) return set_status_of(*m, status);
    found = 0;
    give_way(c);
  });
}
MPI_ABI_ALIAS(Iprobe)

int PMPI_Mprobe(int source_rank, int tag, MPI_Comm comm, MPI_Message* message_handle, MPI_Status* status) {
  return enter(comm, [&](caller& c, communicator& in) {
    const route from = source(in, source_rank, tag);
    MPI_Message& result = output(message_handle);
    result = MPI_MESSAGE_NO_PROC;
    if (from.peer == MPI_PROC_NULL) return set_status_of_none(status);
    message& m = await_message(c, from);
    set_status_of(m, status);
    result = taken(c, m, in);
  });
}
MPI_ABI_ALIAS(Mprobe)

int PMPI_Improbe(int source_rank, int tag, MPI_Comm comm, int* flag, MPI_Message* message_handle, MPI_Status* status) {
  return enter(comm, [&](caller& c, communicator& in) {
    const route from = source(in, source_rank, tag);
    MPI_Message& result = output(message_handle);
    output(flag) = 1;
    result = MPI_MESSAGE_NO_PROC;
    if (from.peer == MPI_PROC_NULL) return set_status_of_none(status);
    message* const m = find_message(c.me, from);
    if (m != nullptr) {
      set_status_of(*m, status);
      result = taken(c, *m, in);
      return;
    }
    *flag = 0;
    result = MPI_MESSAGE_NULL;
    give_way(c);
  });
}
MPI_ABI_ALIAS(Improbe)

int PMPI_Buffer_flush(void) {
  return enter([&](caller& c) {
    const wait_note note = c.note(wait_note::kind::send);
    c.me.await_attached_buffer(note);
  });
}
MPI_ABI_ALIAS(Buffer_flush)
}
