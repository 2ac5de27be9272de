// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/sim_transport.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>

#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// What the wire carries besides a buffer's words.
constexpr std::size_t k_header_bytes = 32;

}  // namespace

// A channel with its two ends, since both are in one process.
class sim_channel final : public out_channel, public in_channel {
public:
  void connect(sim_world& world, std::uint32_t from, std::uint32_t to, std::uint16_t worker, traffic t) noexcept {
    world_ = &world;
    from_ = from;
    to_ = to;
    worker_ = worker;
    class_ = t;
  }

  std::uint64_t* acquire() noexcept override;
  void post(std::size_t words) noexcept override;
  std::size_t capacity_words() const noexcept override {
    return world_->shape().slot_bytes / sizeof(std::uint64_t) - 1;
  }
  std::uint64_t posted() const noexcept override { return body_ == nullptr ? 0 : body_->posted; }
  std::uint64_t done() const noexcept override;
  deputy wake_deputy() noexcept override;
  std::span<const std::uint64_t> front() noexcept override;
  void release() noexcept override;
  bool seems_available() const noexcept override { return has_arrived(); }
  void watch() noexcept override { watched_ = true; }
  bool unwatch() noexcept override {
    if (has_arrived()) return false;
    watched_ = false;
    return true;
  }

  /// Whether the receiver must be told of it.
  bool must_announce() const noexcept { return !watched_ && has_arrived(); }
  std::uint32_t from() const noexcept { return from_; }
  traffic its_class() const noexcept { return class_; }
  bool has_arrived() const noexcept {
    return body_ != nullptr && !body_->flying.empty() &&
           body_->flying.front().arrives_ps <= world_->executor().now_ps();
  }
  std::uint64_t unanswered() const noexcept { return body_ == nullptr ? 0 : body_->posted - body_->released; }

private:
  struct flight {
    std::uint64_t arrives_ps;
    std::size_t words;
    std::unique_ptr<std::uint64_t[]> buffer;
  };
  // From the first buffer on.
  struct contents {
    std::unique_ptr<std::uint64_t[]> open;
    std::deque<flight> flying;
    std::deque<std::uint64_t> acknowledgements_ps;  // when those after `acknowledged` reach the sender
    std::uint64_t posted = 0, released = 0, acknowledged = 0;
    std::uint64_t last_arrival_ps = 0, last_acknowledgement_ps = 0;
  };

  sim_world* world_ = nullptr;
  std::unique_ptr<contents> body_;
  std::uint32_t from_ = 0, to_ = 0;
  std::uint16_t worker_ = 0;  // of both nodes
  traffic class_ = traffic::request;
  bool watched_ = false;  // by the receiver, which looks by itself
};

class sim_domain final : public domain {
public:
  sim_domain(sim_world& world, std::uint32_t node, std::uint16_t worker) noexcept
      : world_(world), node_(node), worker_(worker) {}

  bool progress() noexcept override {
    world_.executor().spend_ps(world_.executor().options().costs.poll_ps);
    world_.executor().give_way();
    return false;
  }
  out_channel& out(unsigned node, traffic t) noexcept override { return channel(node, t); }
  in_channel& in(unsigned node, traffic t) noexcept override { return world_.at(node, worker_).channel(node_, t); }
  bool announced() const noexcept override {
    while (!arrivals_.empty() && arrivals_.front().time_ps <= world_.executor().now_ps()) {
      if (arrivals_.front().in->must_announce()) return true;
      drop_first();
    }
    return false;
  }
  void take_announced(announced_to& to) noexcept override {
    while (announced()) {
      sim_channel& in = *arrivals_.front().in;
      drop_first();
      to.announced(in.from(), in.its_class());
    }
  }
  lockfree::doorbell<>* bell() noexcept override { return &bell_; }
  bool bell_is_shared() const noexcept override { return false; }

  lockfree::doorbell<>& its_bell() noexcept { return bell_; }
  /// A buffer of requests arrives then.
  void expect(sim_channel& in, std::uint64_t time_ps) {
    arrivals_.push_back({time_ps, &in});
    std::push_heap(arrivals_.begin(), arrivals_.end());
  }
  /// Those of a peer are made together, when one is asked for.
  sim_channel& channel(std::uint32_t to, traffic t) {
    auto& all = channels_[to];
    if (all == nullptr) {
      all = std::make_unique<std::array<sim_channel, k_traffic_classes>>();
      for (unsigned c = 0; c < k_traffic_classes; ++c)
        (*all)[c].connect(world_, node_, to, worker_, static_cast<traffic>(c));
    }
    return (*all)[static_cast<unsigned>(t)];
  }
  std::uint64_t unanswered(std::uint32_t to) const {
    const auto found = channels_.find(to);
    return found == channels_.end() ? 0 : (*found->second)[static_cast<unsigned>(traffic::request)].unanswered();
  }

private:
  void drop_first() const noexcept {
    std::pop_heap(arrivals_.begin(), arrivals_.end());
    arrivals_.pop_back();
  }

  sim_world& world_;
  const std::uint32_t node_;
  const std::uint16_t worker_;
  lockfree::doorbell<> bell_;
  std::unordered_map<std::uint32_t, std::unique_ptr<std::array<sim_channel, k_traffic_classes>>> channels_;  // out
  // Of buffers of requests, the earliest first. What arrives in a channel that is watched is dropped in its time: when
  // it is watched no more, nothing is there.
  struct arrival_time {
    std::uint64_t time_ps;
    sim_channel* in;
    bool operator<(const arrival_time& other) const noexcept { return time_ps > other.time_ps; }
  };
  mutable std::vector<arrival_time> arrivals_;  // a heap
};

namespace {

class sim_transport final : public transport {
public:
  sim_transport(sim_world& world, unsigned node) noexcept : world_(world), node_(node) {}
  const char* name() const noexcept override { return "sim"; }
  domain& at(unsigned worker) noexcept override { return world_.at(node_, worker); }
  std::string outstanding(std::uint32_t node) const override {
    std::uint64_t buffers = 0;
    for (unsigned w = 0; w < world_.shape().workers; ++w) buffers += world_.at(node_, w).unanswered(node);
    return describe_outstanding(buffers);
  }

private:
  sim_world& world_;
  const unsigned node_;
};

}  // namespace

std::uint64_t* sim_channel::acquire() noexcept {
  if (body_ == nullptr) body_ = std::make_unique<contents>();
  if (body_->open == nullptr) {
    if (body_->posted - done() >= world_->shape().slots) return nullptr;
    body_->open = world_->take_buffer();
  }
  return body_->open.get();
}

void sim_channel::post(std::size_t words) noexcept {
  sim_executor& by = world_->executor();
  const sim_costs& costs = by.options().costs;
  if (!world_->shape().is_routed) by.spend_ps(words * costs.write_ps);
  by.delay_ps(costs.send_ps);
  by.come_last();  // cards and links take messages in the order of time
  const std::size_t bytes = words * sizeof(std::uint64_t) + k_header_bytes;
  contents& b = *body_;
  const std::uint64_t arrives_ps =
      std::max(world_->network().carry(from_, to_, bytes, by.now_ps(), world_->draw_jitter_ps()), b.last_arrival_ps);
  b.last_arrival_ps = arrives_ps;
  b.flying.push_back({arrives_ps, words, std::move(b.open)});
  ++b.posted;
  world_->count(bytes);
  by.note(arrives_ps ^ (std::uint64_t{from_} << 40) ^ (std::uint64_t{to_} << 20) ^ words ^
          (static_cast<std::uint64_t>(class_) << 60));
  sim_domain& receiver = world_->at(to_, worker_);
  if (!is_reply(class_) || world_->shape().is_routed) receiver.expect(*this, arrives_ps);
  if (arrives_ps != k_never_ps) by.ring_at(arrives_ps, receiver.its_bell());
}

std::uint64_t sim_channel::done() const noexcept {
  if (body_ == nullptr) return 0;
  contents& b = *body_;
  while (!b.acknowledgements_ps.empty() && b.acknowledgements_ps.front() <= world_->executor().now_ps()) {
    b.acknowledgements_ps.pop_front();
    ++b.acknowledged;
  }
  return b.acknowledged;
}

deputy sim_channel::wake_deputy() noexcept { return deputy::impossible; }

std::span<const std::uint64_t> sim_channel::front() noexcept {
  if (!has_arrived()) return {};
  const flight& f = body_->flying.front();
  return {f.buffer.get(), f.words};
}

void sim_channel::release() noexcept {
  sim_executor& by = world_->executor();
  const sim_costs& costs = by.options().costs;
  contents& b = *body_;
  if (!world_->shape().is_routed) by.spend_ps(b.flying.front().words * costs.execute_ps);
  by.delay_ps(costs.receive_ps);
  world_->give_buffer(std::move(b.flying.front().buffer));
  b.flying.pop_front();
  ++b.released;
  const std::uint64_t at_ps =
      std::max(world_->network().carry_acknowledgement(to_, from_, by.now_ps()), b.last_acknowledgement_ps);
  b.last_acknowledgement_ps = at_ps;
  b.acknowledgements_ps.push_back(at_ps);
  if (at_ps != k_never_ps) by.ring_at(at_ps, world_->at(from_, worker_).its_bell());
}

sim_world::sim_world(const sim_world_shape& shape, sim_executor& by)
    : shape_(shape), executor_(by), network_(shape.network, shape.nodes, shape.faults) {
  for (unsigned n = 0; n < shape.nodes; ++n)
    for (unsigned w = 0; w < shape.workers; ++w)
      domains_.push_back(std::make_unique<sim_domain>(*this, n, static_cast<std::uint16_t>(w)));
}

sim_world::~sim_world() = default;

std::unique_ptr<transport> sim_world::connect(unsigned node) { return std::make_unique<sim_transport>(*this, node); }

std::uint64_t sim_world::draw_jitter_ps() noexcept {
  return executor_.random_part(shape_.network.latency_ps, shape_.network.jitter);
}

std::unique_ptr<std::uint64_t[]> sim_world::take_buffer() {
  if (free_.empty()) return std::make_unique_for_overwrite<std::uint64_t[]>(shape_.slot_bytes / sizeof(std::uint64_t));
  std::unique_ptr<std::uint64_t[]> buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

}  // namespace shoal::net
