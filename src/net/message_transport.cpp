// SPDX-License-Identifier: Apache-2.0
#include "net/message_transport.hpp"

#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "machine/futex.hpp"
#include "machine/memory_info.hpp"
#include "net/message_lane.hpp"
#include "net/message_server.hpp"
#include "net/message_watch.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// Where a library does not tell that something came, who sleeps looks again, at first soon.
constexpr std::int64_t k_shortest_sleep_ns = 20'000;
constexpr std::int64_t k_longest_sleep_ns = 500'000;
// For what leaves at the end; a node that is gone does not take it.
constexpr std::uint64_t k_patience_ns = 1'000'000'000;
// Of the thread that serves events; other domains have events too. Then those who sleep look themselves.
constexpr int k_rounds_to_serve = 64;

std::size_t lane_bytes(const message_shape& s) {
  return machine::round_up(std::size_t{s.nodes} * k_traffic_classes * s.slots * s.slot_bytes, machine::page_size());
}

}  // namespace

// ---- out

void message_out::attach(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* slots,
                         const message_shape& shape) {
  lane_ = &lane;
  to_ = to;
  traffic_ = t;
  slots_ = slots;
  slot_words_ = shape.slot_bytes / sizeof(std::uint64_t);
  counts_.resize(shape.slots);
  sent_ = std::make_unique<std::atomic<bool>[]>(shape.slots);
  for (std::size_t i = 0; i < shape.slots; ++i) sent_[i].store(true, std::memory_order_relaxed);
  ring_ = lockfree::slot_ring_producer<>(control_, shape.slots);
}

std::uint64_t* message_out::acquire() noexcept {
  if (!ring_.has_room()) return nullptr;
  const std::size_t i = ring_.fill_index();
  if (sent_[i].load(std::memory_order_acquire)) return slot(i);
  // Executed there does not mean that the library here knows it was sent.
  lane_->waits_for_library();
  return sent_[i].load(std::memory_order_acquire) ? slot(i) : nullptr;
}

void message_out::post(std::size_t words) noexcept {
  const std::size_t i = ring_.fill_index();
  sent_[i].store(false, std::memory_order_relaxed);
  if (message_server* const server = lane_->through().server(); server != nullptr) {
    counts_[i] = words;
    ring_.publish();
    server->ring();
  } else {
    ring_.publish();
    lane_->through().send(*lane_, to_, traffic_, slot(i), words, sent_[i]);
  }
}

bool message_out::send_posted() noexcept {
  const std::uint64_t posted = control_.published.load(std::memory_order_acquire);
  if (sending_ == posted) return false;
  for (; sending_ < posted; ++sending_) {
    const std::size_t i = sending_ & (counts_.size() - 1);
    lane_->through().send_now(*lane_, to_, traffic_, slot(i), counts_[i], sent_[i]);
  }
  return true;
}

bool message_out::acknowledged(std::uint32_t executed) noexcept {
  const std::uint64_t known = control_.consumed.load(std::memory_order_relaxed);
  const auto more = static_cast<std::int32_t>(executed - static_cast<std::uint32_t>(known));
  if (more <= 0) return false;
  control_.consumed.store(known + static_cast<std::uint32_t>(more), std::memory_order_release);
  return true;
}

std::uint64_t message_out::outstanding() const noexcept {
  return control_.published.load(std::memory_order_relaxed) - control_.consumed.load(std::memory_order_relaxed);
}

// ---- in

void message_in::attach(message_lane& lane, const message_shape& shape) {
  lane_ = &lane;
  entries_.resize(shape.slots);
  filling_ = lockfree::slot_ring_producer<>(control_, shape.slots);
  ring_ = lockfree::slot_ring_consumer<>(control_, shape.slots);
}

std::span<const std::uint64_t> message_in::front() noexcept {
  if (ring_.available() == 0) return {};
  const entry& e = entries_[ring_.front_index()];
  return {e.words, e.count};
}

void message_in::release() noexcept {
  ring_.release();
  lane_->something_executed();
}

void message_in::arrived(const arrival& a, wire& over) noexcept {
  give_back_executed(over);  // their places may be filled again
  SHOAL_ASSERT(filling_.has_room(), "a node sends more than there is room for");
  entries_[filling_.fill_index()] = {a.words, a.count, a.token};
  filling_.publish();
}

void message_in::give_back_executed(wire& to) noexcept {
  for (const std::uint64_t until = executed(); given_back_ < until; ++given_back_)
    to.give_back(entries_[given_back_ & (entries_.size() - 1)].token);
}

// ---- lane

message_lane::message_lane(message_domain& through, message_domain& aside, unsigned worker, const message_shape& shape)
    : through_(through),
      aside_(aside),
      node_(shape.node),
      nodes_(shape.nodes),
      worker_(static_cast<std::uint16_t>(worker)),
      half_room_(static_cast<std::uint32_t>(std::max<std::size_t>(shape.slots / 2, 1))),
      poll_mask_(&through != &aside ? shape.poll_mask : 0),  // its own domain has its own transfers, too
      memory_(lane_bytes(shape)),
      out_(std::size_t{shape.nodes} * k_traffic_classes),
      in_(std::size_t{shape.nodes} * k_traffic_classes),
      told_(shape.nodes) {
  memory_.commit(0, memory_.size());
  auto* slots = reinterpret_cast<std::uint64_t*>(memory_.data());
  const std::size_t channel_words = shape.slots * shape.slot_bytes / sizeof(std::uint64_t);
  for (std::uint32_t n = 0; n < nodes_; ++n)
    for (const auto t : {traffic::request, traffic::reply}) {
      out_[index(n, t)].attach(*this, n, t, slots + index(n, t) * channel_words, shape);
      in_[index(n, t)].attach(*this, shape);
    }
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
  return std::any_of(in_.begin(), in_.end(), [](const message_in& c) { return c.pending(); });
}

std::int64_t message_lane::longest_sleep_ns() noexcept {
  if (through_.server() != nullptr) return -1;
  if (through_.arm() && (&aside_ == &through_ || aside_.arm())) return -1;
  if (moved_.exchange(false, std::memory_order_relaxed)) sleep_ns_ = k_shortest_sleep_ns / 2;
  sleep_ns_ = std::min(sleep_ns_ * 2, k_longest_sleep_ns);
  return sleep_ns_;
}

void message_lane::something_executed() noexcept {
  executed_.store(true, std::memory_order_release);
  if (message_server* const server = through_.server(); server != nullptr) server->ring();
}

void message_lane::wake() noexcept {
  if (!moved_.load(std::memory_order_relaxed)) moved_.store(true, std::memory_order_relaxed);
  if (bell_.ring()) machine::futex_wake(bell_.word(), 1, false);
}

message_label message_lane::label(std::uint32_t to, message_kind kind) noexcept {
  message_label l;
  l.lane = worker_;
  l.kind = static_cast<std::uint8_t>(kind);
  l.from = node_;
  for (unsigned c = 0; c < k_traffic_classes; ++c)
    l.executed[c] = told_[to].executed[c] =
        static_cast<std::uint32_t>(in_[index(to, static_cast<traffic>(c))].executed());
  return l;
}

void message_lane::arrived(const arrival& a, wire& over) noexcept {
  const std::uint32_t from = a.label.from;
  bool news = false;
  for (unsigned c = 0; c < k_traffic_classes; ++c)
    news |= out_[index(from, static_cast<traffic>(c))].acknowledged(a.label.executed[c]);
  if (a.label.kind != static_cast<std::uint8_t>(message_kind::acknowledgement)) {
    in_[index(from, static_cast<traffic>(a.label.kind))].arrived(a, over);
    news = true;
  }
  if (news) wake();
}

// Gives back what has been executed since, and tells those who must know.
void message_lane::look_back(wire& wire) noexcept {
  if (waits_.load(std::memory_order_relaxed) && waits_.exchange(false, std::memory_order_relaxed)) wake();
  if (!executed_.load(std::memory_order_relaxed) || !executed_.exchange(false, std::memory_order_acquire)) return;
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    if (n == node_) continue;
    for (const auto t : {traffic::request, traffic::reply}) in_[index(n, t)].give_back_executed(wire);
    const auto owed = [&](traffic t) {
      return static_cast<std::uint32_t>(in_[index(n, t)].executed()) - told_[n].executed[static_cast<unsigned>(t)];
    };
    if (owed(traffic::request) == 0 && owed(traffic::reply) < half_room_) continue;
    wire.send(n, label(n, message_kind::acknowledgement), nullptr, 0, nullptr);
  }
}

std::uint64_t message_lane::outstanding(std::uint32_t node) const noexcept {
  return out_[index(node, traffic::request)].outstanding();
}

bool message_lane::send_posted() noexcept {
  bool any = false;
  for (message_out& c : out_) any |= c.send_posted();
  return any;
}

// ---- domain

message_domain::message_domain(wire& over, const message_shape& shape, const message_transport::loss_handler& lost,
                               message_server* server)
    : wire_(over),
      lost_(lost),
      lock_(make_lock(shape.lock, shape.wait)),
      lanes_(shape.workers, nullptr),
      unreachable_(shape.nodes),
      server_(server) {}

void message_domain::add(message_lane& lane, unsigned worker) { lanes_[worker] = &lane; }

void message_domain::send(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
                          std::atomic<bool>& sent) noexcept {
  const std::lock_guard guard(*lock_);
  send_now(lane, to, t, words, count, sent);
}

void message_domain::send_now(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
                              std::atomic<bool>& sent) noexcept {
  wire_.send(to, lane.label(to, static_cast<message_kind>(t)), words, count, &sent);
}

bool message_domain::put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>& done) noexcept {
  bool begun = false;
  {
    const std::lock_guard guard(*lock_);
    begun = wire_.put(to, from, bytes, &done);
  }
  if (server_ != nullptr) server_->ring();
  return begun;
}

bool message_domain::get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>& done) noexcept {
  bool begun = false;
  {
    const std::lock_guard guard(*lock_);
    begun = wire_.get(from, to, bytes, &done);
  }
  if (server_ != nullptr) server_->ring();
  return begun;
}

bool message_domain::progress() noexcept {
  if (!lock_->try_lock()) return false;
  const bool any = move();
  lock_->unlock();
  return any;
}

bool message_domain::move() noexcept {
  bool any = false;
  if (server_ != nullptr)
    for (message_lane* lane : lanes_)
      if (lane != nullptr) any |= lane->send_posted();
  any |= wire_.progress(*this);
  for (message_lane* lane : lanes_)
    if (lane != nullptr) lane->look_back(wire_);
  return any;
}

void message_domain::be_watched(message_watch& by, unsigned number) noexcept {
  watch_ = &by;
  number_ = number;
}

bool message_domain::arm() noexcept {
  if (watch_ == nullptr || !lock_->try_lock()) return false;
  // Whatever was posted, executed or sent since the last look, which somebody else's may have prevented.
  const bool armed = !move() && arm_now();
  lock_->unlock();
  return armed;
}

bool message_domain::arm_now() noexcept {
  if (!wire_.arm()) return false;
  watch_->arm(number_);
  return true;
}

void message_domain::serve_event() noexcept {
  if (server_ != nullptr) return server_->ring();
  // Then somebody else looks after it, or is about to arm it.
  const auto asleep = [](message_lane* lane) { return lane->asleep(); };
  for (int round = 0; round < k_rounds_to_serve; ++round) {
    {
      const std::lock_guard guard(*lock_);
      const bool moved = move();
      if (std::none_of(sleepers_.begin(), sleepers_.end(), asleep)) return;
      if (!moved && arm_now()) return;
    }
    machine::yield_processor();
  }
  for (message_lane* lane : sleepers_) lane->wake();
}

void message_domain::finish() noexcept {
  const std::lock_guard guard(*lock_);
  for (message_lane* lane : lanes_) {
    if (lane == nullptr) continue;
    if (server_ != nullptr) lane->send_posted();
    lane->look_back(wire_);
  }
  const std::uint64_t until_ns = base::now_ns() + k_patience_ns;
  while (!wire_.all_sent() && base::now_ns() < until_ns) {
    wire_.progress(*this);
    machine::yield_processor();
  }
}

void message_domain::end_losses() noexcept {
  const std::lock_guard guard(*lock_);
  tells_losses_ = false;
}

bool message_domain::arrived(const arrival& a) noexcept {
  SHOAL_ASSERT(a.label.from < unreachable_.size() && a.label.lane < lanes_.size() && lanes_[a.label.lane] != nullptr,
               "a message of this job names a worker of this node");
  lanes_[a.label.lane]->arrived(a, wire_);
  return a.label.kind != static_cast<std::uint8_t>(message_kind::acknowledgement);
}

void message_domain::unreachable(std::uint32_t node, const char* why) noexcept {
  if (unreachable_[node] || !tells_losses_) return;
  unreachable_[node] = true;
  lost_(node, why);
}

// ---- transport

message_transport::message_transport(const char* name, std::unique_ptr<network> net, const message_shape& shape,
                                     loss_handler lost)
    : name_(name), net_(std::move(net)), lost_(std::move(lost)) {
  SHOAL_ASSERT((shape.slots & (shape.slots - 1)) == 0, "a channel has a power of two of buffers");
  SHOAL_ASSERT(shape.domains >= 1 && shape.domains <= shape.workers, "a domain belongs to at least one worker");
  if (shape.progress == progress_role::server) server_ = std::make_unique<message_server>();
  for (unsigned d = 0; d < shape.domains; ++d)
    domains_.push_back(std::make_unique<message_domain>(net_->at(d), shape, lost_, server_.get()));
  for (unsigned w = 0; w < shape.workers; ++w) {
    message_domain& own = *domains_[w % shape.domains];
    message_domain& through = shape.route == message_route::domain_0 ? *domains_[0] : own;
    lanes_.push_back(std::make_unique<message_lane>(through, own, w, shape));
    through.add(*lanes_.back(), w);
    through.add_sleeper(*lanes_.back());
    if (&own != &through) own.add_sleeper(*lanes_.back());
  }
  if (std::ranges::all_of(domains_, [](const auto& d) { return d->event() >= 0; })) {
    watch_ = std::make_unique<message_watch>(domains_);
    for (unsigned d = 0; d < shape.domains; ++d) domains_[d]->be_watched(*watch_, d);
  }
  if (server_ != nullptr) server_->start(domains_);
}

// The network first: until its end it may read what is in the lanes' buffers, and say that it was sent.
message_transport::~message_transport() {
  end_threads();
  for (auto& d : domains_) d->end_losses();
  net_.reset();
}

domain& message_transport::at(unsigned worker) noexcept { return *lanes_[worker]; }

void message_transport::end_threads() noexcept {
  if (server_ != nullptr) server_->stop();  // the watch may still ring it
  watch_.reset();
}

void message_transport::finish() noexcept {
  end_threads();
  for (auto& d : domains_) d->finish();
  for (auto& d : domains_) d->end_losses();
}

registered_memory message_transport::registered() const noexcept {
  return {net_->registrations(), net_->registered_bytes()};
}

std::string message_transport::outstanding(std::uint32_t node) const {
  std::uint64_t buffers = 0;
  for (const auto& lane : lanes_) buffers += lane->outstanding(node);
  return describe_outstanding(buffers);
}

}  // namespace shoal::net
