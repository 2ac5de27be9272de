// SPDX-License-Identifier: Apache-2.0
#include "net/routes/routed_wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/rough_time.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

constexpr std::uint64_t k_ticks_per_us = 1000 * base::rough_time::k_per_ns;
// An urgent buffer waits for company while an earlier one is in flight, but not for long; others until the worker is
// idle.
constexpr std::uint64_t k_urgent_ticks = 20 * k_ticks_per_us;
constexpr std::uint64_t k_old_ticks = 1000 * k_ticks_per_us;
// While messages wait for room at a next hop, which wakes the worker that looks at that hop's arrivals only.
constexpr std::int64_t k_room_look_ns = 20'000;
constexpr int k_most_buffers = 8;  // of a neighbour in one look
constexpr std::uint32_t k_most_looks = 1024;
constexpr std::size_t k_most_touched_looks = 64;  // in one look; the others have their turn

std::size_t place_of(std::uint32_t node, traffic t) noexcept {
  return std::size_t{node} * k_traffic_classes + static_cast<unsigned>(t);
}

}  // namespace

routed_wire::routed_wire(routed_network& of, unsigned number)
    : network_(of),
      inner_(of.inner().at(number)),
      node_(of.shape().node),
      clock_(*of.shape().executor),
      full_words_(of.shape().block_words * 3 / 4),
      sent_(std::size_t{of.map().nodes()} * k_traffic_classes),
      received_(std::size_t{of.map().nodes()} * k_traffic_classes),
      links_(std::size_t{of.map().nodes()} * k_traffic_classes),
      arrivals_(std::size_t{of.map().nodes()} * k_traffic_classes) {}

routed_wire::~routed_wire() = default;

routed_wire::own_link& routed_wire::link_to(std::uint32_t hop, traffic t) noexcept {
  own_link*& place = links_[place_of(hop, t)];
  if (place == nullptr) [[unlikely]] {
    made_.push_back(std::make_unique<own_link>(network_.link(hop, t)));
    place = made_.back().get();
  }
  return *place;
}

// A block of so many words was copied, and of its words so many were written or executed.
void routed_wire::charge(std::size_t copied, machine::work what, std::size_t words) noexcept {
  if (clock_.is_real()) return;
  machine::executor& by = *network_.shape().executor;
  by.charge(machine::work::block, 1);
  by.charge(machine::work::copy, copied);
  if (words != 0) by.charge(what, words);
}

void routed_wire::touch(own_link& l, bool urgent) noexcept {
  has_sent_ = true;
  const std::uint64_t posted = l.shared.posted();
  if (l.touched && l.posted == posted) {
    l.urgent |= urgent;
    return;
  }
  l.urgent = urgent;
  l.since = clock_.now();
  if (l.touched) l.left = l.since;  // the buffer before
  l.posted = posted;
  if (std::exchange(l.touched, true)) return;
  touched_.push_back(&l);
  wake_worker();
}

// It looks after what is left open here; a sibling may be at it while it sleeps.
void routed_wire::wake_worker() noexcept {
  lockfree::doorbell<>* const bell = inner_.bell();
  if (bell != nullptr && bell->ring()) network_.shape().executor->wake(bell->word(), 1, inner_.bell_is_shared());
}

bool routed_wire::put_message(own_link& l, const waiting_message& m) noexcept {
  std::uint64_t* const at = l.shared.claim(k_block_head_words + m.count);
  if (at == nullptr) return false;
  const bool urgent = m.count != 0 && (m.count < full_words_ || m.count > network_.shape().block_words);
  block_head head;
  head.to = m.to;
  head.sequence = sent_[place_of(m.to, carried_as(m.label))]++;
  head.size = static_cast<std::uint16_t>(m.count | (urgent ? block_head::k_urgent : 0U));
  head.label = m.label;
  std::memcpy(at, &head, sizeof head);
  if (m.count != 0) std::memcpy(at + k_block_head_words, m.words, m.count * sizeof(std::uint64_t));
  charge(k_block_head_words + m.count, machine::work::write, m.count);
  begun_.store(begun_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  l.shared.copied(k_block_head_words + m.count);
  touch(l, urgent);
  if (m.sent != nullptr) m.sent->store(true, std::memory_order_release);
  return true;
}

void routed_wire::send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
                       std::atomic<bool>* sent) noexcept {
  own_link& l = link_to(network_.map().next_hop(node_, node), carried_as(label));
  const waiting_message m{node, label, words, count, sent};
  if (l.waiting.empty() && put_message(l, m)) return;
  l.waiting.push_back(m);
  if (std::exchange(l.blocked, true)) return;
  blocked_.push_back(&l);
  wake_worker();
}

bool routed_wire::send_waiting() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < blocked_.size();) {
    own_link& l = *blocked_[i];
    while (!l.waiting.empty() && put_message(l, l.waiting.front())) {
      l.waiting.pop_front();
      any = true;
    }
    if (!l.waiting.empty()) {
      ++i;
      continue;
    }
    l.blocked = false;
    blocked_[i] = blocked_.back();
    blocked_.pop_back();
  }
  return any;
}

// Whether a buffer leaves now: at once where somebody may wait; where nothing came and nothing was sent since the last
// look, so that no more is to be expected soon; and the first one to a hop after some time, since the worker may begin
// something long.
bool routed_wire::is_due(const own_link& l, bool idle, std::uint64_t time) const noexcept {
  const std::uint64_t age = time - l.since;
  if (age >= k_old_ticks) return true;
  const bool soon = l.urgent || idle || time - l.left >= k_old_ticks;
  return soon && (age >= k_urgent_ticks || l.shared.is_idle());
}

void routed_wire::end_look(bool any) noexcept {
  const bool idle = !std::exchange(has_sent_, false) && !any;
  if (touched_.empty()) return;
  const std::uint64_t time = clock_.now();
  for (std::size_t looks = std::min(touched_.size(), k_most_touched_looks); looks > 0; --looks) {
    if (next_touched_ >= touched_.size()) next_touched_ = 0;
    own_link& l = *touched_[next_touched_];
    const bool left = l.shared.posted() != l.posted;
    if (!left && !is_due(l, idle, time)) {
      ++next_touched_;
      continue;
    }
    if (!left) l.shared.close();
    l.touched = l.urgent = false;
    l.left = time;
    touched_[next_touched_] = touched_.back();
    touched_.pop_back();
  }
}

// ---- what arrives

void routed_wire::announced(std::uint32_t node, traffic t) noexcept {
  arrivals& a = arrivals_[place_of(node, t)];
  if (a.in == nullptr) {
    a.in = &inner_.in(node, t);
    a.its_class = t;
  }
  if (std::exchange(a.watched, true)) return;
  a.looks_in_vain = 0;
  a.in->watch();
  watched_.push_back(&a);
}

bool routed_wire::look_at_arrivals() noexcept {
  if (inner_.announced()) inner_.take_announced(*this);
  bool any = false;
  for (std::size_t i = 0; i < watched_.size();) {
    arrivals& a = *watched_[i];
    if (look_at(a)) {
      any = true;
      a.looks_in_vain = 0;
    } else if (++a.looks_in_vain >= k_most_looks) [[unlikely]] {
      a.looks_in_vain = 0;
      if (a.in->unwatch()) {
        a.watched = false;
        watched_[i] = watched_.back();
        watched_.pop_back();
        continue;
      }
    }
    ++i;
  }
  return any;
}

// A block that cannot go on stays in its buffer, and those behind it.
bool routed_wire::look_at(arrivals& a) noexcept {
  bool any = false;
  for (int buffers = 0; buffers < k_most_buffers; ++buffers) {
    const auto buffer = a.in->front();
    if (buffer.empty()) break;
    while (a.position < buffer.size()) {
      const std::uint64_t* const block = buffer.data() + a.position;
      const block_head head = read_head(block);
      const std::size_t words = k_block_head_words + head.words();
      SHOAL_ASSERT(a.position + words <= buffer.size() && head.to < network_.map().nodes(),
                   "another node has sent a block that no node sends; start the same program on all nodes");
      if (!(head.to == node_ ? keep(block, head, a.its_class) : pass_on(block, head, a.its_class))) {
        if (!std::exchange(a.stuck, true)) wake_worker();
        return any;
      }
      a.stuck = false;
      a.position += words;
      any = true;
    }
    a.position = 0;
    a.in->release();
  }
  return any;
}

bool routed_wire::pass_on(const std::uint64_t* block, const block_head& head, traffic t) noexcept {
  own_link& l = link_to(network_.map().next_hop(node_, head.to), t);
  const std::size_t words = k_block_head_words + head.words();
  std::uint64_t* const at = l.shared.claim(words);
  if (at == nullptr) return false;
  std::memcpy(at, block, words * sizeof(std::uint64_t));
  charge(words, machine::work::copy, 0);
  handed_on_.store(handed_on_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  l.shared.copied(words);
  touch(l, head.is_urgent());
  return true;
}

bool routed_wire::keep(const std::uint64_t* block, const block_head& head, traffic t) noexcept {
  if (head.label.kind > static_cast<std::uint8_t>(message_kind::nudged)) {
    head.label.kind == k_all_ended ? network_.all_ended() : network_.child_ended();
    return true;
  }
  SHOAL_ASSERT(head.label.lane < network_.shape().workers && head.label.from < network_.map().nodes(),
               "another node has sent a message that no node sends; start the same program on all nodes");
  kept_block* const kept = memory_for(head.words(), t);
  if (kept == nullptr) return false;
  kept->head = head;
  std::memcpy(kept->words.get(), block + k_block_head_words, head.words() * sizeof(std::uint64_t));
  charge(k_block_head_words + head.words(), machine::work::execute, head.words());
  network_.wire_of(head.label.lane).take(*kept);
  return true;
}

kept_block* routed_wire::memory_for(std::size_t words, traffic t) noexcept {
  const routed_shape& shape = network_.shape();
  const std::size_t need = std::max(words, shape.block_words), most = shape.most_blocks * shape.block_words;
  std::size_t& kept = kept_[static_cast<unsigned>(t)];
  const auto full = [&] { return kept != 0 && kept + need > most; };
  if (free_ == nullptr || full()) take_back();
  if (full()) return nullptr;
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<kept_block>());
    blocks_.back()->owner = this;
    blocks_.back()->next.write(nullptr);
    free_ = blocks_.back().get();
  }
  kept_block* const b = free_;
  free_ = static_cast<kept_block*>(b->next.read());
  if (b->room != need) {
    b->words = std::make_unique_for_overwrite<std::uint64_t[]>(need);
    b->room = need;
  }
  b->counted_as = t;
  kept += need;
  return b;
}

void routed_wire::take_back() noexcept {
  for (auto* n = returned_.take_all(); n != nullptr;) {
    auto* const b = static_cast<kept_block*>(n);
    n = n->next.read();
    kept_[static_cast<unsigned>(b->counted_as)] -= b->room;
    b->next.write(free_);
    free_ = b;
  }
}

// On the thread of another wire, or this one.
void routed_wire::take(kept_block& b) noexcept {
  if (inbox_.push(&b)) wake_worker();
}

bool routed_wire::deliver(wire_user& user) noexcept {
  auto* n = inbox_.take_all();
  if (n == nullptr) return false;
  while (n != nullptr) {
    auto* const b = static_cast<kept_block*>(n);
    n = n->next.read();
    const message_label& label = b->head.label;
    std::uint16_t& next = received_[place_of(label.from, b->counted_as)];
    SHOAL_ASSERT(b->head.sequence == next, "blocks of a worker have overtaken each other on their way");
    ++next;
    if (!user.arrived({label, b->words.get(), b->head.words(), b})) give_back(b);
  }
  return true;
}

void routed_wire::give_back(void* token) noexcept {
  auto* const b = static_cast<kept_block*>(token);
  b->owner->returned_.push(b);
}

// What waits here and what arrives take the room that there is in turn.
bool routed_wire::progress(wire_user& user) noexcept {
  bool any = inner_.progress();
  arrivals_first_ = !arrivals_first_;
  if (!arrivals_first_) any |= send_waiting();
  any |= look_at_arrivals();
  any |= deliver(user);
  if (arrivals_first_) any |= send_waiting();
  return any;
}

bool routed_wire::all_sent() const noexcept { return blocked_.empty() && touched_.empty(); }

std::int64_t routed_wire::longest_sleep_ns() noexcept {
  for (own_link* const l : touched_) {
    l->shared.close();
    l->touched = l->urgent = false;
  }
  touched_.clear();
  if (!blocked_.empty() || !inbox_.empty()) return k_room_look_ns;
  const std::int64_t inner_ns = inner_.longest_sleep_ns();
  const bool stuck = std::ranges::any_of(watched_, [](const arrivals* a) { return a->stuck; });
  return !stuck ? inner_ns : inner_ns < 0 ? k_room_look_ns : std::min(inner_ns, k_room_look_ns);
}

}  // namespace shoal::net
