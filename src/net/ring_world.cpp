// SPDX-License-Identifier: Apache-2.0
#include "net/ring_world.hpp"

#include <algorithm>

#include "machine/mapping.hpp"
#include "machine/memory_info.hpp"
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

std::size_t slots_begin(const ring_shape& s) noexcept {
  return machine::round_up(
      std::size_t{s.nodes} * s.workers * sizeof(bell_line) + rings(s) * sizeof(lockfree::slot_ring_control<>),
      machine::page_size());
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
    if (other->ring()) waker->executor->wake(other->word(), 1, waker->between_processes);
  }
};

class ring_out final : public out_channel {
public:
  ring_out() = default;
  ring_out(ring_side side, lockfree::slot_ring_control<>& control, std::size_t slots, const ring_layout& layout,
           unsigned to)
      : side_(side), ring_(control, slots), layout_(&layout), to_(to) {}

  std::uint64_t* acquire() noexcept override { return ring_.has_room() ? side_.slot(ring_.fill_index()) + 1 : nullptr; }
  void post(std::size_t words) noexcept override {
    *side_.slot(ring_.fill_index()) = words;
    ring_.publish();
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
  const ring_layout* layout_ = nullptr;
  unsigned to_ = 0;  // the receiving node
};

class ring_in final : public in_channel {
public:
  ring_in() = default;
  ring_in(ring_side side, lockfree::slot_ring_control<>& control, std::size_t slots)
      : side_(side), ring_(control, slots) {}

  std::span<const std::uint64_t> front() noexcept override {
    if (ring_.available() == 0) return {};
    const std::uint64_t* slot = side_.slot(ring_.front_index());
    return {slot + 1, static_cast<std::size_t>(*slot)};
  }
  void release() noexcept override {
    ring_.release();
    side_.ring_other();
  }
  bool pending() const noexcept { return ring_.seems_available(); }

private:
  ring_side side_;
  lockfree::slot_ring_consumer<> ring_;
};

class ring_domain final : public domain {
public:
  ring_domain(const ring_layout& layout, unsigned node, unsigned worker, const ring_waker& waker)
      : bell_(&layout.bell(node, worker)),
        shared_(waker.between_processes),
        out_(channels(layout)),
        in_(channels(layout)),
        mail_(layout.mail(node, worker), layout.shape().workers) {
    const ring_shape& shape = layout.shape();
    mail_.out.reserve(std::size_t{shape.nodes} * shape.workers);
    for (unsigned peer = 0; peer < shape.nodes; ++peer)
      for (unsigned w = 0; w < shape.workers; ++w)
        mail_.out.emplace_back(layout.mail(peer, w),
                               mail_bell{&layout.bell(peer, w), waker.executor, waker.between_processes});
    for (unsigned peer = 0; peer < shape.nodes; ++peer)
      for (unsigned c = 0; c < k_traffic_classes; ++c) {
        const auto t = static_cast<traffic>(c);
        const auto side = [&](unsigned from, unsigned to) {
          return ring_side{&layout.bell(peer, worker), layout.slots(from, to, worker, t), shape.slot_bytes, &waker};
        };
        out_[peer * k_traffic_classes + c] =
            ring_out(side(node, peer), layout.control(node, peer, worker, t), shape.slots, layout, peer);
        in_[peer * k_traffic_classes + c] =
            ring_in(side(peer, node), layout.control(peer, node, worker, t), shape.slots);
      }
  }

  out_channel& out(unsigned node, traffic t) noexcept override {
    return out_[node * k_traffic_classes + static_cast<unsigned>(t)];
  }
  in_channel& in(unsigned node, traffic t) noexcept override {
    return in_[node * k_traffic_classes + static_cast<unsigned>(t)];
  }
  bool pending() noexcept override {
    for (const ring_in& c : in_)
      if (c.pending()) return true;
    return false;
  }
  lockfree::doorbell<>* bell() noexcept override { return bell_; }
  bool bell_is_shared() const noexcept override { return shared_; }
  mail_port* mail() noexcept override { return &mail_; }

private:
  static std::size_t channels(const ring_layout& layout) noexcept {
    return std::size_t{layout.shape().nodes} * k_traffic_classes;
  }

  lockfree::doorbell<>* bell_;
  bool shared_;
  std::vector<ring_out> out_;
  std::vector<ring_in> in_;
  mail_port mail_;
};

}  // namespace

std::size_t ring_layout::bytes(const ring_shape& shape) noexcept {
  return mail_begin(shape) + std::size_t{shape.nodes} * shape.workers * sizeof(mail_ring);
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

lockfree::slot_ring_control<>& ring_layout::control(unsigned from, unsigned to, unsigned worker,
                                                    traffic t) const noexcept {
  auto* first = reinterpret_cast<lockfree::slot_ring_control<>*>(memory_ + std::size_t{shape_.nodes} * shape_.workers *
                                                                               sizeof(bell_line));
  return first[ring_index(from, to, worker, t)];
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
    const auto& ring = layout_.control(node_, node, w, traffic::request);
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
