// SPDX-License-Identifier: Apache-2.0
#include "rank/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "machine/process_memory.hpp"
#include "rank/node_ranks.hpp"
#include "remote/mailbox.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::rank {
namespace {

// Short messages: one message of the runtime. Pieces of long ones: as much as one takes.
constexpr std::uint64_t k_short_bytes = 8192;
constexpr std::size_t k_piece_bytes = (detail::k_most_payload_words - 3) * 8;
// From here on a message is worth a system call.
constexpr std::uint64_t k_least_read_bytes = 16384;

// In front of a message: words of its payload. With a short one's bytes and what the runtime adds it fills one cache line.
struct letter_head {
  std::uint64_t context;
  std::int32_t source, tag;
  std::int32_t to;      // rank of the world
  std::uint32_t bytes;  // that follow; k_waits_there: a waiting_letter follows
};
constexpr std::uint32_t k_waits_there = ~std::uint32_t{0};
constexpr std::size_t k_head_words = sizeof(letter_head) / 8;
static_assert(sizeof(letter_head) % 8 == 0);

// Of a message whose bytes stay with its sender until they are asked for.
struct waiting_letter {
  std::uint64_t bytes;
  std::uint64_t sender;  // its request
  std::uint64_t worker;  // the sender's
  std::uint64_t memory;  // where the bytes lie one behind the other; 0: they do not
};

constexpr std::size_t words_of(std::uint64_t bytes) noexcept { return (bytes + 7) / 8; }

// Sends `words` words, which write(words) fills in, to a rank's worker: at once where the transport can do that, else in
// the stream to its process. All messages of a process go one way to another one, so that they stay in order. May switch.
template <class Write>
void send_words(detail::worker_base& w, std::uint32_t node, std::uint32_t worker, detail::receiver receiver,
                std::size_t words, const Write& write) {
  if (remote::mailbox& mail = remote::mailbox_of(w); mail.exists()) {
    write(mail.begin(node, worker, receiver, words));
    mail.post();
    return;
  }
  detail::stream& s = detail::begin_message(w, node, detail::code_of(receiver), words);
  write(s.cursor);
  s.cursor += words;
}

// On the worker of the message's rank, or else brought there. Other workers of the process may have received the messages
// before it, and brought them: it does not overtake these.
void deliver(detail::worker_base& here, message& m) noexcept {
  if (&m.to->home == &here && !m.to->home.has_errands()) return arrive(m);
  m.to_worker.run = [](detail::task& t) noexcept {
    arrive(*static_cast<message::delivery&>(static_cast<sched::errand&>(t)).of);
  };
  m.to_worker.of = &m;
  m.to->home.give_errand(m.to_worker);
}

void receive_letter(const detail::arrival& a) noexcept {
  letter_head head;
  std::memcpy(&head, a.payload.data(), sizeof head);
  const std::uint64_t* const follows = a.payload.data() + k_head_words;
  rank_state& to = ranks_of(a.worker).here(head.to);
  const envelope sent{head.context, head.source, head.tag};
  if (head.bytes == k_waits_there) {
    waiting_letter waits;
    std::memcpy(&waits, follows, sizeof waits);
    message& m = message::make(to, sent, waits.bytes, false);
    m.node = a.from;
    m.sender_there = waits.sender;
    m.worker_there = static_cast<std::uint32_t>(waits.worker);
    m.memory_there = waits.memory;
    return deliver(a.worker, m);
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(follows);
  if (&to.home == &a.worker && !to.home.has_errands() && receive_at_once(to, sent, {bytes, head.bytes})) [[likely]]
    return return_window(to, a.from, head.bytes);
  message& m = message::make(to, sent, head.bytes, true);
  m.node = a.from;
  m.fills_window = true;
  if (head.bytes != 0) std::memcpy(m.packed(), bytes, head.bytes);
  deliver(a.worker, m);
}

// Runs `f` as a task of the worker, which may wait.
template <class F>
void place_task(sched::worker& w, F f) {
  struct placed final : sched::placed_task {
    explicit placed(F body) : f(std::move(body)) {}
    F f;
  };
  auto* const t = new placed(std::move(f));
  t->run = [](detail::task& raw) noexcept {
    const std::unique_ptr<placed> self(&static_cast<placed&>(static_cast<sched::placed_task&>(raw)));
    self->f();
  };
  w.place(*t);
}

void receive_window(const detail::arrival& a) noexcept { ranks_of(a.worker).windows().give_back(a.from, a.payload[0]); }

// ---- the receiver asks, the sender answers

struct wanted_bytes {
  std::uint64_t sender;    // its request
  std::uint64_t receiver;  // its request; 0: the bytes have been read, the send is complete
  std::uint64_t bytes;
  std::uint64_t node;  // that asks
};

struct piece_head {
  std::uint64_t receiver;
  std::uint64_t offset;
  std::uint64_t bytes;
};

void fill_piece(request& r, const std::byte* from, std::uint64_t bytes, std::uint64_t offset) noexcept {
  unpack(from, bytes, r.data, offset);
  r.missing_bytes -= bytes;
  if (r.missing_bytes == 0) complete(r);
}

void receive_piece(const detail::arrival& a) noexcept {
  piece_head head;
  std::memcpy(&head, a.payload.data(), sizeof head);
  auto& r = *reinterpret_cast<request*>(head.receiver);
  const auto* const bytes = reinterpret_cast<const std::byte*>(a.payload.data() + 3);
  if (&r.owner->home == &a.worker) return fill_piece(r, bytes, head.bytes, head.offset);
  struct carried final : sched::errand {
    piece_head head;
    std::vector<std::byte> bytes;
  };
  auto* const c = new carried;
  c->head = head;
  c->bytes.assign(bytes, bytes + head.bytes);
  c->run = [](detail::task& raw) noexcept {
    const std::unique_ptr<carried> self(&static_cast<carried&>(static_cast<sched::errand&>(raw)));
    fill_piece(*reinterpret_cast<request*>(self->head.receiver), self->bytes.data(), self->head.bytes,
               self->head.offset);
  };
  r.owner->home.give_errand(*c);
}

void send_pieces(request& s, const wanted_bytes& w) {
  std::array<std::uint64_t, detail::k_most_payload_words> words;
  const auto node = static_cast<std::uint32_t>(w.node);
  for (std::uint64_t at = 0; at < w.bytes;) {
    const piece_head head{w.receiver, at, std::min<std::uint64_t>(k_piece_bytes, w.bytes - at)};
    std::memcpy(words.data(), &head, sizeof head);
    words[3 + words_of(head.bytes) - 1] = 0;
    pack(s.data, at, reinterpret_cast<std::byte*>(words.data() + 3), head.bytes);
    detail::send(detail::worker_here(), node, detail::receiver_of<receive_piece>(),
                 {words.data(), 3 + words_of(head.bytes)});
    at += head.bytes;
  }
  complete(s);
}

void receive_wish(const detail::arrival& a) noexcept {
  wanted_bytes w;
  std::memcpy(&w, a.payload.data(), sizeof w);
  auto& s = *reinterpret_cast<request*>(w.sender);
  if (w.receiver != 0) return place_task(s.owner->home, [&s, w] { send_pieces(s, w); });
  if (&s.owner->home == &a.worker)
    complete(s);
  else
    complete_from_elsewhere(s);
}

struct fetch {
  std::uint32_t node, worker;  // of the sender
  std::uint64_t sender, memory, bytes;
};

void wish(const fetch& f, const wanted_bytes& w) {
  send_words(detail::worker_here(), f.node, f.worker, detail::receiver_of<receive_wish>(), sizeof w / 8,
             [&w](std::uint64_t* to) { std::memcpy(to, &w, sizeof w); });
}

void fetch_bytes(request& r, const fetch& f) {
  job_ranks& job = r.owner->job;
  const int process = f.node < job.form().processes.size() ? job.form().processes[f.node] : 0;
  bool read = f.bytes == 0;
  if (!read && f.memory != 0 && process != 0 && f.bytes >= k_least_read_bytes) {
    if (std::byte* const to = solid_bytes(r.data); to != nullptr) {
      read = machine::read_process_memory(process, f.memory, {to, f.bytes});
    } else {
      const auto packed = std::make_unique_for_overwrite<std::byte[]>(f.bytes);
      read = machine::read_process_memory(process, f.memory, {packed.get(), f.bytes});
      if (read) unpack(packed.get(), f.bytes, r.data, 0);
    }
  }
  if (read) {
    wish(f, {f.sender, 0, 0, job.form().node});
    complete(r);
    return;
  }
  r.missing_bytes = f.bytes;
  wish(f, {f.sender, reinterpret_cast<std::uintptr_t>(&r), f.bytes, job.form().node});
}

}  // namespace

request* send_to_node(rank_state& me, const buffer& data, const route& to, const envelope& sent, int world,
                      send_mode mode, request* known) {
  const std::uint64_t bytes = data.bytes();
  letter_head head{sent.context, sent.source, sent.tag, world, k_waits_there};
  const std::uint32_t node = me.job.node_of(world);
  const std::uint32_t worker = me.job.worker_of(world);
  detail::worker_base& w = me.home;
  if (mode != send_mode::synchronous && bytes <= k_short_bytes &&
      me.job.windows().take(node, bytes + k_message_bytes)) {
    head.bytes = static_cast<std::uint32_t>(bytes);
    send_words(w, node, worker, detail::receiver_of<receive_letter>(), k_head_words + words_of(bytes),
               [&](std::uint64_t* to_there) {
                 std::memcpy(to_there, &head, sizeof head);
                 if (bytes == 0) return;
                 to_there[k_head_words + words_of(bytes) - 1] = 0;
                 pack(data, 0, reinterpret_cast<std::byte*>(to_there + k_head_words), bytes);
               });
    if (mode == send_mode::buffered) me.leave_attached_buffer(bytes);
    return nullptr;
  }
  const bool buffered = mode == send_mode::buffered;
  request& r = known != nullptr && !buffered ? *known : me.pool.take(me, request_kind::send);
  buffer kept = data;
  if (buffered) {  // the program may change its buffer
    r.abandoned = true;
    r.packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
    pack(data, 0, r.packed.get(), bytes);
    kept = {r.packed.get(), static_cast<MPI_Count>(bytes), nullptr};
  }
  note_send(r, me, kept, to, mode);
  const waiting_letter waits{bytes, reinterpret_cast<std::uintptr_t>(&r), w.index,
                             reinterpret_cast<std::uintptr_t>(solid_bytes(kept))};
  send_words(w, node, worker, detail::receiver_of<receive_letter>(), k_head_words + sizeof waits / 8,
             [&](std::uint64_t* to_there) {
               std::memcpy(to_there, &head, sizeof head);
               std::memcpy(to_there + k_head_words, &waits, sizeof waits);
             });
  return buffered ? nullptr : &r;
}

void fetch_from_node(request& r, message& m, std::uint64_t bytes) noexcept {
  const fetch f{m.node, m.worker_there, m.sender_there, m.memory_there, bytes};
  message::end(m);
  place_task(r.owner->home, [&r, f] { fetch_bytes(r, f); });
}

void return_window(rank_state& to, std::uint32_t node, std::uint64_t of_message) noexcept {
  const std::uint64_t bytes = to.job.windows().received(node, of_message + k_message_bytes);
  if (bytes == 0) return;
  place_task(to.home, [node, bytes] {
    detail::send(detail::worker_here(), node, detail::receiver_of<receive_window>(), {&bytes, 1});
  });
}

}  // namespace shoal::rank
