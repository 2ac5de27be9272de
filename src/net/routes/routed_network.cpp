// SPDX-License-Identifier: Apache-2.0
#include "net/routes/routed_network.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/counted.hpp"
#include "net/routes/block.hpp"
#include "net/routes/routed_wire.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {

routed_network::routed_network(std::unique_ptr<transport> inner, std::shared_ptr<const route_map> map,
                               const routed_shape& shape)
    : inner_(std::move(inner)),
      map_(std::move(map)),
      shape_(shape),
      links_(std::size_t{map_->nodes()} * k_traffic_classes) {
  SHOAL_ASSERT(shape.most_words <= k_most_block_words, "the size of a block fits into its head");
  SHOAL_ASSERT(shape.most_words >= shape.block_words, "the usual message is not larger than the largest");
  for (unsigned w = 0; w < shape.workers; ++w) wires_.push_back(std::make_unique<routed_wire>(*this, w));
}

routed_network::~routed_network() = default;

wire& routed_network::at(unsigned domain) noexcept { return *wires_[domain]; }

std::string routed_network::describe() const {
  return fmt::format("{} with routes of {}", inner_->name(), base::counted(map_->hops(), "hop"));
}

route_counts routed_network::counts() const {
  route_counts all;
  for (const auto& w : wires_) {
    all.begun += w->begun();
    all.handed_on += w->handed_on();
  }
  const std::lock_guard guard(making_);
  for (const auto& l : made_) all.buffers += l->posted();
  return all;
}

// Both ends of a pair of nodes must choose the same of their workers to look at what arrives.
route_link& routed_network::link(std::uint32_t hop, traffic t) noexcept {
  auto& place = links_[std::size_t{hop} * k_traffic_classes + static_cast<unsigned>(t)];
  if (route_link* const known = place.load(std::memory_order_acquire); known != nullptr) return *known;
  const std::lock_guard guard(making_);
  if (route_link* const known = place.load(std::memory_order_relaxed); known != nullptr) return *known;
  const unsigned looked_at_by = (shape_.node + hop) % shape_.workers;
  out_channel& out = inner_->at(looked_at_by).out(hop, t);
  SHOAL_ASSERT(k_block_head_words + shape_.most_words <= out.capacity_words(), "a block fits into an empty buffer");
  made_.push_back(std::make_unique<route_link>(out));
  place.store(made_.back().get(), std::memory_order_release);
  return *made_.back();
}

bool routed_network::say(std::uint32_t to, std::uint8_t kind) noexcept {
  route_link& l = link(to, traffic::reply);
  std::uint64_t* const at = l.claim(k_block_head_words);
  if (at == nullptr) return false;
  block_head head;
  head.to = to;
  head.label.kind = kind;
  head.label.from = shape_.node;
  std::memcpy(at, &head, sizeof head);
  l.copied(k_block_head_words);
  l.close();
  return true;
}

bool routed_network::say_to_children() noexcept {
  while (children_told_ < children_.size() && say(children_[children_told_], k_all_ended)) ++children_told_;
  return children_told_ == children_.size();
}

// Nodes hand on what others send, so they leave together: word that all have ended goes up to node 0 along the routes to
// it, which are a tree, and comes back.
bool routed_network::may_leave() noexcept {
  if (!std::exchange(has_asked_, true))
    for (std::uint32_t n = 1; n < map_->nodes(); ++n)
      if (n != shape_.node && map_->next_hop(n, 0) == shape_.node) children_.push_back(n);
  if (ended_children_.load(std::memory_order_relaxed) < children_.size()) return false;
  if (shape_.node != 0) {
    if (!told_parent_) told_parent_ = say(map_->next_hop(shape_.node, 0), k_ended);
    if (!all_ended_.load(std::memory_order_relaxed)) return false;
  }
  if (!say_to_children()) return false;
  inner_->finish(true);
  return true;
}

}  // namespace shoal::net
