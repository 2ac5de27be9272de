// SPDX-License-Identifier: Apache-2.0
#include "net/message_lane.hpp"

#include <algorithm>
#include <utility>

#include "machine/memory_info.hpp"
#include "net/message_domain.hpp"
#include "net/message_server.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// If a library does not notify of arrivals, a sleeper polls again, at first after a short time.
constexpr std::int64_t k_shortest_sleep_ns = 20'000;
constexpr std::int64_t k_longest_sleep_ns = 500'000;
constexpr const char* k_more_than_sent = "another node says that it has executed more than was sent to it";

std::size_t channels(const message_shape& s) { return std::size_t{s.nodes} * k_traffic_classes; }

std::size_t large_begin(const message_shape& s) {
  return machine::round_up(channels(s) * s.slots * s.slot_bytes, machine::page_size());
}

// Of all classes, which do not wait for each other.
unsigned large_slots(const message_shape& s) { return s.large_bytes == 0 ? 0 : k_traffic_classes * s.large_slots; }

std::size_t lane_bytes(const message_shape& s) {
  return machine::round_up(large_begin(s) + large_slots(s) * s.large_bytes, machine::page_size());
}

std::size_t board_words(const message_shape& s) { return lockfree::announcement_board<>::words(channels(s)); }

}  // namespace

// ---- out

message_out::message_out(message_lane& lane, std::size_t place, std::uint64_t* slots, const message_shape& shape)
    : lane_(lane),
      place_(place),
      slots_(slots),
      slot_words_(shape.slot_bytes / sizeof(std::uint64_t)),
      slot_stride_(channels(shape) * slot_words_),
      most_words_(shape.most_words()),
      counts_(shape.slots),
      sent_(std::make_unique<std::atomic<bool>[]>(shape.slots)),
      ring_(control_, shape.in_flight()) {
  for (std::size_t i = 0; i < shape.slots; ++i) sent_[i].store(true, std::memory_order_relaxed);
}

std::span<std::uint64_t> message_out::acquire_for(std::size_t words) noexcept {
  const std::size_t own = own_words();
  if (words > own && large_ == nullptr && ring_.has_room()) large_ = lane_.take_large(message_lane::traffic_of(place_));
  if (large_ != nullptr) return {large_->words, most_words_};
  std::uint64_t* const buffer = words > own ? nullptr : acquire();
  return {buffer, buffer == nullptr ? 0 : own};
}

std::uint64_t* message_out::acquire() noexcept {
  if (large_ != nullptr) return large_->words;
  if (!ring_.has_room()) return nullptr;
  const std::size_t i = slot_of(ring_.published());
  if (sent_[i].load(std::memory_order_acquire)) return slot(i);
  // Executed there does not mean that the library here knows it was sent.
  lane_.waits_for_library();
  return sent_[i].load(std::memory_order_acquire) ? slot(i) : nullptr;
}

void message_out::post(std::size_t words) noexcept {
  if (large_slot* const large = std::exchange(large_, nullptr); large != nullptr) {
    ring_.publish();
    return lane_.through().send(lane_, message_lane::node_of(place_), message_lane::traffic_of(place_), large->words,
                                words, large->free);
  }
  const std::size_t i = slot_of(ring_.published());
  sent_[i].store(false, std::memory_order_relaxed);
  if (message_server* const server = lane_.through().server(); server != nullptr) {
    counts_[i] = words;
    ring_.publish();
    lane_.posted(place_);
    server->ring();
  } else {
    ring_.publish();
    lane_.through().send(lane_, message_lane::node_of(place_), message_lane::traffic_of(place_), slot(i), words,
                         sent_[i]);
  }
}

bool message_out::send_posted() noexcept {
  const std::uint64_t posted = control_.published.load(std::memory_order_acquire);
  if (sending_ == posted) return false;
  for (; sending_ < posted; ++sending_) {
    const std::size_t i = slot_of(sending_);
    lane_.through().send_now(lane_, message_lane::node_of(place_), message_lane::traffic_of(place_), slot(i),
                             counts_[i], sent_[i]);
  }
  return true;
}

bool message_out::acknowledged(std::uint32_t executed) noexcept {
  const std::uint64_t known = control_.consumed.load(std::memory_order_relaxed);
  const auto more = static_cast<std::int32_t>(executed - static_cast<std::uint32_t>(known));
  if (more <= 0) return false;
  SHOAL_ASSERT(static_cast<std::uint64_t>(more) <= control_.published.load(std::memory_order_relaxed) - known,
               k_more_than_sent);
  control_.consumed.store(known + static_cast<std::uint32_t>(more), std::memory_order_release);
  return true;
}

deputy message_out::wake_deputy() noexcept { return lane_.wake_deputy(message_lane::node_of(place_)); }

std::uint64_t message_out::outstanding() const noexcept {
  return control_.published.load(std::memory_order_relaxed) - control_.consumed.load(std::memory_order_relaxed);
}

// ---- in

message_in::message_in(message_lane& lane, std::size_t place, const message_shape& shape)
    : lane_(lane),
      place_(place),
      slots_(shape.in_flight()),
      parts_(std::make_unique<std::unique_ptr<entry[]>[]>((slots_ + k_part - 1) / k_part)),
      filling_(control_, shape.in_flight()),
      ring_(control_, shape.in_flight()) {}

std::span<const std::uint64_t> message_in::front() noexcept {
  if (ring_.available() == 0) return {};
  const entry& e = at(ring_.front_index());
  return {e.words, e.count};
}

void message_in::release() noexcept {
  ring_.release();
  lane_.executed(place_);
}

bool message_in::arrived(const arrival& a, wire& over) noexcept {
  give_back_executed(over);  // their places may be filled again
  SHOAL_ASSERT(filling_.has_room(), "a node sends more than there is room for");
  const std::size_t slot = filling_.fill_index();
  if (auto& part = parts_[slot / k_part]; part == nullptr) [[unlikely]]
    part = std::make_unique<entry[]>(k_part);
  at(slot) = {a.words, a.count, a.token};
  filling_.publish();
  return mark_.must_announce();
}

void message_in::give_back_executed(wire& to) noexcept {
  for (const std::uint64_t until = executed(); given_back_ < until; ++given_back_)
    to.give_back(at(given_back_ & (slots_ - 1)).token);
}

// ---- lane

message_lane::message_lane(message_domain& through, message_domain& aside, unsigned worker, const message_shape& shape)
    : through_(through),
      aside_(aside),
      executor_(*shape.executor),
      clock_(*shape.executor),
      shape_(shape),
      node_(shape.node),
      worker_(static_cast<std::uint16_t>(worker)),
      half_room_(static_cast<std::uint32_t>(std::max<std::size_t>(shape.in_flight() / 2, 1))),
      poll_mask_(&through != &aside ? shape.poll_mask : 0),  // its own domain has its own transfers, too
      memory_(lane_bytes(shape)),
      out_(channels(shape)),
      in_(channels(shape)),
      few_(shape.requests_may_wait ? std::max(half_room_ / 2, 1U) : 1),
      told_(shape.nodes),
      is_late_(shape.requests_may_wait ? channels(shape) : 1),
      nudging_(shape.nodes),
      boards_(3 * board_words(shape)),
      arrivals_(boards_.data(), channels(shape)),
      executions_(boards_.data() + board_words(shape), channels(shape)),
      postings_(boards_.data() + 2 * board_words(shape), channels(shape)),
      inner_(through.inner()),
      bell_(inner_ != nullptr && inner_->bell() != nullptr ? *inner_->bell() : own_bell_),
      bell_is_shared_(inner_ != nullptr && inner_->bell_is_shared()) {
  SHOAL_ASSERT(shape.large_bytes == 0 || shape.progress == progress_role::workers, "workers send large messages");
  memory_.commit(0, memory_.size());
  large_ = std::make_unique<large_slot[]>(large_slots(shape));
  for (unsigned i = 0; i < large_slots(shape); ++i)
    large_[i].words =
        reinterpret_cast<std::uint64_t*>(memory_.data() + large_begin(shape) + i * shape.large_bytes) + k_label_words;
}

large_slot* message_lane::take_large(traffic t) noexcept {
  const unsigned first = static_cast<unsigned>(t) * shape_.large_slots;
  for (unsigned i = first; i < first + shape_.large_slots; ++i)
    if (large_[i].free.load(std::memory_order_relaxed) && large_[i].free.exchange(false, std::memory_order_acquire))
      return &large_[i];
  waits_for_library();
  return nullptr;
}

message_lane::~message_lane() {
  for (std::size_t i = 0; i < channels(shape_); ++i) {
    delete known_out(i);
    delete known_in(i);
  }
}

message_out& message_lane::out_at(std::size_t i) noexcept {
  message_out* known = known_out(i);
  if (known != nullptr) [[likely]]
    return *known;
  // The first slots of all channels, then the second ones, each by class: where little is sent, few pages are touched.
  const std::size_t first = std::size_t{static_cast<unsigned>(traffic_of(i))} * shape_.nodes + node_of(i);
  auto* const slots = reinterpret_cast<std::uint64_t*>(memory_.data() + first * shape_.slot_bytes);
  auto made = std::make_unique<message_out>(*this, i, slots, shape_);
  return out_[i].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? *made.release() : *known;
}

message_in& message_lane::in_at(std::size_t i) noexcept {
  message_in* known = known_in(i);
  if (known != nullptr) [[likely]]
    return *known;
  auto made = std::make_unique<message_in>(*this, i, shape_);
  return in_[i].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? *made.release() : *known;
}

bool message_lane::progress() noexcept {
  if (through_.server() != nullptr) return false;
  const bool moved = &aside_ != &through_ && aside_.progress();
  if (poll_mask_ != 0) {
    const std::uint32_t polls = polls_.load(std::memory_order_relaxed);
    polls_.store(polls + 1, std::memory_order_relaxed);
    if ((polls & poll_mask_) != 0) return moved;
  }
  return through_.progress() || moved;
}

bool message_lane::one_sided() const noexcept { return aside_.one_sided(); }
bool message_lane::put(unsigned node, std::uint64_t offset, const void* from, std::size_t bytes,
                       std::atomic<bool>& done) noexcept {
  return aside_.put({node, offset}, from, bytes, done);
}
bool message_lane::get(unsigned node, std::uint64_t offset, void* to, std::size_t bytes,
                       std::atomic<bool>& done) noexcept {
  return aside_.get({node, offset}, to, bytes, done);
}

bool message_lane::pending() noexcept {
  if (through_.server() == nullptr) {
    through_.progress();
    if (&aside_ != &through_) aside_.progress();
  }
  return announced();
}

std::int64_t message_lane::longest_sleep_ns() noexcept {
  if (through_.server() != nullptr) return -1;
  if (inner_ != nullptr) {
    const std::int64_t ns = through_.longest_sleep_ns();
    if (ns != message_domain::k_look_again) return ns;
  } else if (through_.arm() && (&aside_ == &through_ || aside_.arm()))
    return -1;
  if (moved_.exchange(false, std::memory_order_relaxed)) sleep_ns_ = k_shortest_sleep_ns / 2;
  sleep_ns_ = std::min(sleep_ns_ * 2, k_longest_sleep_ns);
  return sleep_ns_;
}

void message_lane::executed(std::size_t place) noexcept {
  executions_.announce(place);
  if (message_server* const server = through_.server(); server != nullptr) server->ring();
}

void message_lane::wake() noexcept {
  if (!moved_.load(std::memory_order_relaxed)) moved_.store(true, std::memory_order_relaxed);
  if (bell_.ring()) executor_.wake(bell_.word(), 1, bell_is_shared_);
}

message_label message_lane::label(std::uint32_t to, message_kind kind) noexcept {
  message_label l;
  l.lane = worker_;
  l.kind = static_cast<std::uint8_t>(kind);
  l.from = node_;
  const bool tells =
      !shape_.requests_may_wait || (kind != message_kind::request && kind != message_kind::handler_request);
  for (unsigned c = 0; c < k_traffic_classes; ++c) {
    const message_in* const in = known_in(index(to, static_cast<traffic>(c)));
    if (in == nullptr) continue;
    l.executed[c] = static_cast<std::uint32_t>(in->executed());
    if (tells) told_[to].executed[c] = l.executed[c];
  }
  return l;
}

void message_lane::arrived(const arrival& a, wire& over) noexcept {
  const std::uint32_t from = a.label.from;
  bool news = false;
  for (unsigned c = 0; c < k_traffic_classes; ++c) {
    message_out* const out = known_out(index(from, static_cast<traffic>(c)));
    SHOAL_ASSERT(out != nullptr || a.label.executed[c] == 0, k_more_than_sent);
    news |= out != nullptr && out->acknowledged(a.label.executed[c]);
  }
  switch (static_cast<message_kind>(a.label.kind)) {
    case message_kind::request:
    case message_kind::handler_request: {
      const std::size_t place = index(from, static_cast<traffic>(a.label.kind));
      if (in_at(place).arrived(a, over)) arrivals_.announce(place);
      news = true;
      break;
    }
    case message_kind::reply:
    case message_kind::handler_reply: {  // who has asked looks for them
      const std::size_t place = index(from, static_cast<traffic>(a.label.kind));
      if (in_at(place).arrived(a, over) && shape_.announces_replies) arrivals_.announce(place);
      news = true;
      break;
    }
    case message_kind::acknowledgement: break;
    case message_kind::nudge:
      over.send(from, label(from, message_kind::nudged), nullptr, 0, nullptr);
      news = true;
      break;
    case message_kind::nudged: nudging_[from].store(false, std::memory_order_relaxed); break;
  }
  if (news) wake();
}

// At most one is under way to a lane of a node, so that a node that does not look for long gets no more.
bool message_lane::nudge(std::uint32_t node) noexcept {
  if (nudging_[node].exchange(true, std::memory_order_relaxed)) return false;
  through_.nudge(*this, node);
  return true;
}

deputy message_lane::wake_deputy(std::uint32_t node) noexcept {
  const auto lanes = static_cast<unsigned>(lanes_->size());
  if (lanes == 1 || (inner_ == nullptr && through_.event() < 0))
    return deputy::impossible;  // without events sleepers look from time to time
  for (unsigned tries = 0; tries < lanes; ++tries) {
    next_deputy_ = (next_deputy_ + 1) % lanes;
    if (next_deputy_ != worker_ && (*lanes_)[next_deputy_]->nudge(node)) return deputy::woken;
  }
  return deputy::none_sleeps;
}

// Releases executed buffers and sends the acknowledgements that are due.
void message_lane::look_back(wire& wire) noexcept {
  if (waits_.load(std::memory_order_relaxed) && waits_.exchange(false, std::memory_order_relaxed)) wake();
  if (!executions_.any()) {
    if (!acknowledged_later_.empty()) acknowledge_late(wire);
    return;
  }
  executions_.take([this, &wire](std::size_t place) {
    message_in& in = in_at(place);
    in.give_back_executed(wire);
    const std::uint32_t owed = owed_for(place);
    // The label says it for all classes.
    if (owed >= (is_reply(traffic_of(place)) ? half_room_ : few_)) {
      send_acknowledgement(wire, place);
    } else if (few_ > 1 && owed != 0 && !is_reply(traffic_of(place)) && !std::exchange(is_late_[place], true)) {
      acknowledged_later_.push_back(place);
      if (acknowledged_later_.size() == 1) wake();  // its worker looks again
    }
  });
  if (acknowledged_later_.empty()) return;
  // The first after some time go at once: their worker may begin something long.
  const std::uint64_t now = clock_.now();
  if (now - acknowledged_at_ < k_late_ticks) return;
  acknowledged_at_ = now;
  acknowledge_late(wire);
}

std::uint32_t message_lane::owed_for(std::size_t place) noexcept {
  return static_cast<std::uint32_t>(in_at(place).executed()) -
         told_[node_of(place)].executed[static_cast<unsigned>(traffic_of(place))];
}

void message_lane::send_acknowledgement(wire& wire, std::size_t place) noexcept {
  const std::uint32_t n = node_of(place);
  wire.send(n, label(n, message_kind::acknowledgement), nullptr, 0, nullptr);
}

void message_lane::acknowledge_late(wire& wire) noexcept {
  for (const std::size_t place : acknowledged_later_) {
    is_late_[place] = false;
    if (owed_for(place) != 0) send_acknowledgement(wire, place);
  }
  acknowledged_later_.clear();
}

std::uint64_t message_lane::outstanding(std::uint32_t node) const noexcept {
  const message_out* const out = known_out(index(node, traffic::request));
  return out == nullptr ? 0 : out->outstanding();
}

bool message_lane::send_posted() noexcept {
  bool any = false;
  if (postings_.any()) postings_.take([this, &any](std::size_t place) { any |= out_at(place).send_posted(); });
  return any;
}

}  // namespace shoal::net
