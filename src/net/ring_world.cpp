// SPDX-License-Identifier: Apache-2.0
#include "net/ring_world.hpp"

#include <algorithm>

#include "machine/mapping.hpp"
#include "machine/memory_info.hpp"
#include "machine/zero_array.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

using lockfree::k_cache_line_bytes;

// A worker's doorbell has its line for itself: it is written when it sleeps, read at each post.
struct alignas(k_cache_line_bytes) bell_line {
  lockfree::doorbell<> bell;
};

std::size_t rings(const ring_shape& s) noexcept {
  return std::size_t{s.nodes} * s.nodes * s.workers * k_traffic_classes;
}

std::size_t workers_of_world(const ring_shape& s) noexcept { return std::size_t{s.nodes} * s.workers; }

std::size_t board_bytes(const ring_shape& s) noexcept {
  using board = lockfree::announcement_board<>;
  return machine::round_up(board::words(ring_layout::board_place(s.nodes, traffic::request)) * sizeof(board::word),
                           k_cache_line_bytes);
}

std::size_t controls_begin(const ring_shape& s) noexcept {
  return machine::round_up(workers_of_world(s) * (sizeof(bell_line) + board_bytes(s)), machine::page_size());
}

std::size_t slots_begin(const ring_shape& s) noexcept {
  return machine::round_up(controls_begin(s) + rings(s) * sizeof(ring_control), machine::page_size());
}

std::size_t mail_begin(const ring_shape& s) noexcept {
  return machine::round_up(slots_begin(s) + rings(s) * s.slots * s.slot_bytes, machine::page_size());
}

struct ring_side {
  lockfree::doorbell<>* other = nullptr;  // of the worker at the other end
  std::byte* slots = nullptr;
  std::size_t slot_bytes = 0;
  const ring_waker* waker = nullptr;

  std::uint64_t* slot(std::size_t i) const noexcept { return reinterpret_cast<std::uint64_t*>(slots + i * slot_bytes); }
  void ring_other() const noexcept {
    if (other->ring()) wake_other();
  }
  void ring_other_after_fence() const noexcept {
    if (other->ring_after_fence()) wake_other();
  }
  void wake_other() const noexcept { waker->executor->wake(other->word(), 1, waker->between_processes); }
};

// Those that watch a ring that is announced, at its receiver.
struct ring_watch {
  const lockfree::watch_mark<>* mark = nullptr;
  lockfree::announcement_board<> board;
  std::size_t place = 0;
};

class ring_out final : public out_channel {
public:
  ring_out(ring_side side, ring_control& control, const ring_layout& layout, unsigned from, unsigned to,
           unsigned worker, traffic t) noexcept
      : side_(side), ring_(control.ring, layout.shape().slots), layout_(&layout), to_(to) {
    if (!is_reply(t) || layout.shape().announces_replies)
      watch_ = {&control.mark, layout.board(to, worker), ring_layout::board_place(from, t)};
  }

  std::uint64_t* acquire() noexcept override { return ring_.has_room() ? side_.slot(ring_.fill_index()) + 1 : nullptr; }
  void post(std::size_t words) noexcept override {
    *side_.slot(ring_.fill_index()) = words;
    ring_.publish();
    if (watch_.mark == nullptr) return side_.ring_other();  // who has asked looks for replies
    if (!watch_.mark->must_announce()) [[likely]]
      return side_.ring_other_after_fence();
    watch_.board.announce(watch_.place);
    side_.ring_other();
  }
  std::size_t capacity_words() const noexcept override { return side_.slot_bytes / sizeof(std::uint64_t) - 1; }
  std::uint64_t posted() const noexcept override { return ring_.published(); }
  std::uint64_t done() const noexcept override { return ring_.consumed(); }
  deputy wake_deputy() noexcept override {
    const unsigned workers = layout_->shape().workers;
    if (workers == 1) return deputy::impossible;
    for (unsigned w = 0; w < workers; ++w) {
      lockfree::doorbell<>& bell = layout_->bell(to_, w);
      if (&bell == side_.other || !bell.may_sleep() || !bell.ring()) continue;
      side_.waker->executor->wake(bell.word(), 1, side_.waker->between_processes);
      return deputy::woken;
    }
    return deputy::none_sleeps;
  }

private:
  ring_side side_;
  lockfree::slot_ring_producer<> ring_;
  const ring_layout* layout_;
  ring_watch watch_;
  unsigned to_;  // the receiving node
};

class ring_in final : public in_channel {
public:
  ring_in(ring_side side, ring_control& control, std::size_t slots) noexcept
      : side_(side), ring_(control.ring, slots), mark_(&control.mark) {}

  std::span<const std::uint64_t> front() noexcept override {
    if (ring_.available() == 0) return {};
    const std::uint64_t* slot = side_.slot(ring_.front_index());
    return {slot + 1, static_cast<std::size_t>(*slot)};
  }
  void release() noexcept override {
    ring_.release();
    side_.ring_other();
  }
  bool seems_available() const noexcept override { return ring_.seems_available(); }
  void watch() noexcept override { mark_->begin(); }
  bool unwatch() noexcept override {
    return mark_->end([this] { return ring_.seems_available(); });
  }

private:
  ring_side side_;
  lockfree::slot_ring_consumer<> ring_;
  lockfree::watch_mark<>* mark_;
};

class ring_domain final : public domain {
public:
  ring_domain(const ring_layout& layout, unsigned node, unsigned worker, const ring_waker& waker)
      : layout_(layout),
        node_(node),
        worker_(worker),
        waker_(waker),
        bell_(layout.bell(node, worker)),
        board_(layout.board(node, worker)),
        out_(std::size_t{layout.shape().nodes} * k_traffic_classes),
        in_(std::size_t{layout.shape().nodes} * k_traffic_classes),
        mail_(layout.mail(node, worker), layout.shape().nodes, layout.shape().workers, this,
              [](const void* self, unsigned to, unsigned at) noexcept {
                const auto& d = *static_cast<const ring_domain*>(self);
                return mail_out(d.layout_.mail(to, at),
                                mail_bell{&d.layout_.bell(to, at), d.waker_.executor, d.waker_.between_processes});
              }) {}

  out_channel& out(unsigned node, traffic t) noexcept override {
    auto& place = out_[node * k_traffic_classes + static_cast<unsigned>(t)];
    if (!place.is_made()) [[unlikely]]
      place.make(side(node, node_, node, t), layout_.control(node_, node, worker_, t), layout_, node_, node, worker_,
                 t);
    return place.get();
  }
  in_channel& in(unsigned node, traffic t) noexcept override {
    auto& place = in_[node * k_traffic_classes + static_cast<unsigned>(t)];
    if (!place.is_made()) [[unlikely]]
      place.make(side(node, node, node_, t), layout_.control(node, node_, worker_, t), layout_.shape().slots);
    return place.get();
  }
  bool announced() const noexcept override { return board_.any(); }
  void take_announced(announced_to& to) noexcept override {
    board_.take([&to](std::size_t place) {
      to.announced(static_cast<std::uint32_t>(place / k_traffic_classes),
                   static_cast<traffic>(place % k_traffic_classes));
    });
  }
  lockfree::doorbell<>* bell() noexcept override { return &bell_; }
  bool bell_is_shared() const noexcept override { return waker_.between_processes; }
  mail_port* mail() noexcept override { return &mail_; }

private:
  ring_side side(unsigned peer, unsigned from, unsigned to, traffic t) const noexcept {
    return {&layout_.bell(peer, worker_), layout_.slots(from, to, worker_, t), layout_.shape().slot_bytes, &waker_};
  }

  const ring_layout& layout_;
  const unsigned node_, worker_;
  const ring_waker& waker_;
  lockfree::doorbell<>& bell_;
  const lockfree::announcement_board<> board_;
  machine::zero_array<machine::made_later<ring_out>> out_;  // by node and class
  machine::zero_array<machine::made_later<ring_in>> in_;
  mail_port mail_;
};

}  // namespace

std::size_t ring_layout::bytes(const ring_shape& shape) noexcept {
  return mail_begin(shape) + workers_of_world(shape) * sizeof(mail_ring);
}

mail_ring& ring_layout::mail(unsigned node, unsigned worker) const noexcept {
  return reinterpret_cast<mail_ring*>(memory_ + mail_begin(shape_))[std::size_t{node} * shape_.workers + worker];
}

std::size_t ring_layout::ring_index(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept {
  return ((std::size_t{from} * shape_.nodes + to) * shape_.workers + worker) * k_traffic_classes +
         static_cast<unsigned>(t);
}

lockfree::doorbell<>& ring_layout::bell(unsigned node, unsigned worker) const noexcept {
  return reinterpret_cast<bell_line*>(memory_)[std::size_t{node} * shape_.workers + worker].bell;
}

lockfree::announcement_board<>::word* ring_layout::board_words(unsigned node, unsigned worker) const noexcept {
  std::byte* const first = memory_ + workers_of_world(shape_) * sizeof(bell_line);
  return reinterpret_cast<lockfree::announcement_board<>::word*>(first + (std::size_t{node} * shape_.workers + worker) *
                                                                             board_bytes(shape_));
}

lockfree::announcement_board<> ring_layout::board(unsigned node, unsigned worker) const noexcept {
  return {board_words(node, worker), board_place(shape_.nodes, traffic::request)};
}

ring_control& ring_layout::control(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept {
  return reinterpret_cast<ring_control*>(memory_ + controls_begin(shape_))[ring_index(from, to, worker, t)];
}

std::byte* ring_layout::slots(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept {
  return memory_ + slots_begin(shape_) + ring_index(from, to, worker, t) * shape_.slots * shape_.slot_bytes;
}

std::size_t ring_layout::bytes_from_node() const noexcept {
  return ring_index(1, 0, 0, traffic::request) * shape_.slots * shape_.slot_bytes;
}

ring_transport::ring_transport(const char* name, ring_layout layout, unsigned node, bool between_processes)
    : name_(name), layout_(layout), node_(node), waker_{layout.shape().executor, between_processes} {
  SHOAL_ASSERT((layout.shape().slots & (layout.shape().slots - 1)) == 0, "a ring has a power of two of slots");
  for (unsigned w = 0; w < layout.shape().workers; ++w)
    domains_.push_back(std::make_unique<ring_domain>(layout_, node, w, waker_));
}

ring_transport::~ring_transport() = default;

domain& ring_transport::at(unsigned worker) noexcept { return *domains_[worker]; }

std::string ring_transport::outstanding(std::uint32_t node) const {
  std::uint64_t buffers = 0;
  for (unsigned w = 0; w < layout_.shape().workers; ++w) {
    const auto& ring = layout_.control(node_, node, w, traffic::request).ring;
    buffers += ring.published.load(std::memory_order_relaxed) - ring.consumed.load(std::memory_order_relaxed);
  }
  return describe_outstanding(buffers);
}

// The slots of one node lie together; at the ends of small ones a page may be a neighbour's.
buffer_memory ring_transport::buffers() const {
  if (layout_.shape().nodes == 1) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(layout_.slots(node_, 0, 0, traffic::request));
  const std::size_t bytes = layout_.bytes_from_node(), page = machine::page_size();
  const std::uintptr_t first = machine::round_down(begin, page);
  const auto count =
      machine::count_pages(reinterpret_cast<const void*>(first), machine::round_up(begin + bytes, page) - first);
  return {bytes, std::min(count.resident_bytes, bytes)};
}

}  // namespace shoal::net
