// SPDX-License-Identifier: Apache-2.0
#include "net/message_transport.hpp"

#include <algorithm>

#include "net/message_domain.hpp"
#include "net/message_lane.hpp"
#include "net/message_server.hpp"
#include "net/message_watch.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// For what leaves at the end; a node that is gone does not take it.
constexpr std::uint64_t k_patience_ns = 1'000'000'000;
// For nodes that need this one. One that is gone ends the job by other ways.
constexpr std::uint64_t k_departure_ns = 30'000'000'000;

}  // namespace

message_transport::message_transport(const char* name, std::unique_ptr<network> net, const message_shape& shape,
                                     loss_handler lost)
    : name_(name), executor_(*shape.executor), net_(std::move(net)), lost_(std::move(lost)) {
  SHOAL_ASSERT((shape.slots & (shape.slots - 1)) == 0, "a channel has a power of two of buffers");
  SHOAL_ASSERT(shape.domains >= 1 && shape.domains <= shape.workers, "a domain belongs to at least one worker");
  if (shape.progress == progress_role::server) server_ = std::make_unique<message_server>(*shape.executor);
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
  for (const auto& lane : lanes_) lane->meet(lanes_);
  if (std::ranges::all_of(domains_, [](const auto& d) { return d->event() >= 0; })) {
    watch_ = std::make_unique<message_watch>(domains_, *shape.executor);
    for (unsigned d = 0; d < shape.domains; ++d) domains_[d]->be_watched(*watch_, d);
  }
  if (server_ != nullptr) server_->start(domains_);
}

// The network first: until its end it may read the lanes' buffers, and report them as sent.
message_transport::~message_transport() {
  end_threads();
  for (auto& d : domains_) d->end_losses();
  net_.reset();
}

domain& message_transport::at(unsigned worker) noexcept { return *lanes_[worker]; }

void message_transport::end_threads() noexcept {
  if (server_ != nullptr) server_->stop();  // the watch may still wake it
  watch_.reset();
}

void message_transport::finish(bool in_order) noexcept {
  end_threads();
  for (auto& d : domains_) d->begin_end();
  wait(k_patience_ns, [this] {
    return std::ranges::count_if(domains_, [](const auto& d) { return d->has_sent_all(); }) == std::ssize(domains_);
  });
  // A job that ends otherwise ends the other nodes, too.
  if (in_order)
    wait(k_departure_ns, [this] {
      if (net_->may_leave()) return true;
      for (auto& d : domains_) d->progress();
      return false;
    });
  for (auto& d : domains_) d->end_losses();
}

template <class Done>
void message_transport::wait(std::uint64_t at_most_ns, const Done& done) noexcept {
  const std::uint64_t until_ns = executor_.now_ns() + at_most_ns;
  while (!done() && executor_.now_ns() < until_ns) executor_.yield();
}

registered_memory message_transport::registered() const noexcept {
  return {net_->registrations(), net_->registered_bytes()};
}

buffer_memory message_transport::buffers() const {
  buffer_memory all;
  for (const auto& lane : lanes_) {
    const buffer_memory one = lane->buffers();
    all.reserved_bytes += one.reserved_bytes;
    all.resident_bytes += one.resident_bytes;
  }
  const auto [reserved, resident] = net_->buffer_bytes();
  all.reserved_bytes += reserved;
  all.resident_bytes += resident;
  return all;
}

std::string message_transport::outstanding(std::uint32_t node) const {
  std::uint64_t buffers = 0;
  for (const auto& lane : lanes_) buffers += lane->outstanding(node);
  return describe_outstanding(buffers);
}

}  // namespace shoal::net
