// SPDX-License-Identifier: Apache-2.0
#include "net/message_domain.hpp"

#include <algorithm>
#include <mutex>

#include "net/message_lane.hpp"
#include "net/message_server.hpp"
#include "net/message_watch.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// A limit for the thread that serves events, since other domains have events, too. Then sleepers poll themselves.
constexpr int k_rounds_to_serve = 64;

}  // namespace

message_domain::message_domain(wire& over, const message_shape& shape, const message_transport::loss_handler& lost,
                               message_server* server)
    : executor_(*shape.executor),
      wire_(over),
      lost_(lost),
      node_(shape.node),
      lock_(make_lock(shape.lock, shape.wait)),
      by_worker_(shape.workers, nullptr),
      unreachable_(shape.nodes),
      server_(server) {}

void message_domain::add(message_lane& lane, unsigned worker) {
  by_worker_[worker] = &lane;
  lanes_.push_back(&lane);
}

void message_domain::send(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
                          std::atomic<bool>& sent) noexcept {
  hold();
  const std::lock_guard guard(*lock_, std::adopt_lock);
  send_now(lane, to, t, words, count, sent);
  // Another worker may send here, too; what the library has not taken needs the lane's own.
  if (lane.asleep() && !wire_.all_sent()) lane.wake();
}

void message_domain::send_now(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
                              std::atomic<bool>& sent) noexcept {
  wire_.send(to, lane.label(to, static_cast<message_kind>(t)), words, count, &sent);
}

void message_domain::nudge(message_lane& lane, std::uint32_t to) noexcept {
  {
    hold();
    const std::lock_guard guard(*lock_, std::adopt_lock);
    wire_.send(to, lane.label(to, message_kind::nudge), nullptr, 0, nullptr);
  }
  if (server_ != nullptr) server_->ring();
}

bool message_domain::put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>& done) noexcept {
  bool begun = false;
  {
    hold();
    const std::lock_guard guard(*lock_, std::adopt_lock);
    begun = wire_.put(to, from, bytes, &done);
  }
  if (server_ != nullptr) server_->ring();
  return begun;
}

bool message_domain::get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>& done) noexcept {
  bool begun = false;
  {
    hold();
    const std::lock_guard guard(*lock_, std::adopt_lock);
    begun = wire_.get(from, to, bytes, &done);
  }
  if (server_ != nullptr) server_->ring();
  return begun;
}

// Locks wait by the system, which knows no other clock.
void message_domain::hold() noexcept {
  if (executor_.has_real_clock()) return lock_->lock();
  while (!lock_->try_lock()) executor_.yield();
}

std::int64_t message_domain::longest_sleep_ns() noexcept {
  if (!lock_->try_lock()) return k_look_again;
  std::int64_t ns = move() ? k_look_again : wire_.longest_sleep_ns();
  if (std::ranges::any_of(lanes_, &message_lane::acknowledges_later)) ns = k_look_again;
  lock_->unlock();
  return ns;
}

bool message_domain::progress() noexcept {
  if (!lock_->try_lock()) {
    // A task that waits by yielding would come here again and again, and no time would pass for the holder.
    if (!executor_.has_real_clock()) executor_.yield();
    return false;
  }
  const bool any = move();
  lock_->unlock();
  return any;
}

bool message_domain::move() noexcept {
  bool any = false;
  if (server_ != nullptr)
    for (message_lane* lane : lanes_) any |= lane->send_posted();
  any |= wire_.progress(*this);
  for (message_lane* lane : lanes_) lane->look_back(wire_);
  wire_.end_look(any);
  return any;
}

void message_domain::be_watched(message_watch& by, unsigned number) noexcept {
  watch_ = &by;
  number_ = number;
}

bool message_domain::arm() noexcept {
  if (watch_ == nullptr || !lock_->try_lock()) return false;
  // Messages posted, executed or sent since the last progress, which another thread's lock may have prevented.
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
  // Then another thread serves the event, or is about to arm it.
  const auto asleep = [](message_lane* lane) { return lane->asleep(); };
  for (int round = 0; round < k_rounds_to_serve; ++round) {
    {
      hold();
      const std::lock_guard guard(*lock_, std::adopt_lock);
      const bool moved = move();
      if (std::none_of(sleepers_.begin(), sleepers_.end(), asleep)) return;
      if (!moved && arm_now()) return;
    }
    executor_.yield();
  }
  for (message_lane* lane : sleepers_) lane->wake();
}

void message_domain::begin_end() noexcept {
  hold();
  const std::lock_guard guard(*lock_, std::adopt_lock);
  for (message_lane* lane : lanes_) {
    if (server_ != nullptr) lane->send_posted();
    lane->look_back(wire_);
    lane->acknowledge_late(wire_);
  }
}

bool message_domain::has_sent_all() noexcept {
  hold();
  const std::lock_guard guard(*lock_, std::adopt_lock);
  if (wire_.all_sent()) return true;
  wire_.progress(*this);
  wire_.end_look(false);
  return wire_.all_sent();
}

void message_domain::end_losses() noexcept {
  hold();
  const std::lock_guard guard(*lock_, std::adopt_lock);
  tells_losses_ = false;
}

bool message_domain::arrived(const arrival& a) noexcept {
  SHOAL_ASSERT(
      is_sound(a.label, a.count, node_, unreachable_.size(), by_worker_.size()) && by_worker_[a.label.lane] != nullptr,
      "another node has sent a message that no node sends; start the same program on all nodes");
  by_worker_[a.label.lane]->arrived(a, wire_);
  return a.count != 0;
}

void message_domain::unreachable(std::uint32_t node, const char* why) noexcept {
  if (unreachable_[node] || !tells_losses_) return;
  unreachable_[node] = true;
  lost_(node, why);
}

}  // namespace shoal::net
