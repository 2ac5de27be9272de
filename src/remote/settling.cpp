// SPDX-License-Identifier: Apache-2.0
// The wait for all nodes at once, and the passes over what is withheld that it begins with; declared in
// worker_port.hpp.
#include <new>
#include <utility>

#include "fiber/sanitizer.hpp"
#include "remote/worker_port.hpp"

namespace shoal::remote {

// What is withheld while a pass is under way may be behind its place: then the next pass writes it. So nobody waits for
// more than two, however much others withhold meanwhile.
std::uint64_t worker_port::passes_needed() const noexcept {
  const bool under_way = writing_ != nullptr || to_write_ != nullptr;
  return passes_ + (under_way ? 1 : 0) + (withholding != nullptr ? 1 : 0);
}

std::uint32_t worker_port::write_withheld(std::uint64_t passes) noexcept {
  const fiber::tsan_ignore_scope ignore;
  while (passes_ < passes) {
    if (writing_ == nullptr) {
      if (to_write_ == nullptr) to_write_ = std::exchange(withholding, nullptr);
      if (to_write_ == nullptr) break;  // others have written it
      writing_ = std::exchange(to_write_, to_write_->next);
      writing_->listed = false;
    }
    const std::uint32_t full = writing_->write(*writing_, *this);
    if (full != detail::k_all_written) return full;
    writing_ = nullptr;
    if (to_write_ == nullptr) ++passes_;
  }
  return detail::k_all_written;
}

// A stream is a node, a node of the port of handlers, or what the network transfers.
bool settling::unsettled(std::uint32_t stream) const noexcept {
  const std::uint32_t nodes = port_->nodes;
  if (stream == streams_ - 1) return !port_->in_network().empty();
  return stream < nodes ? port_->unsettled(stream) : port_->for_handlers().unsettled(stream - nodes);
}

bool settling::settled(std::uint32_t stream, of_node& at) noexcept {
  at.all = this;
  at.fire = [](stream_waiter& one) noexcept {
    settling& all = *static_cast<of_node&>(one).all;
    if (--all.left_ == 0 && !all.take_marks()) all.done(all);
  };
  const std::uint32_t nodes = port_->nodes;
  if (stream == streams_ - 1) {
    at.executed_mark = port_->in_network().mark();
    port_->in_network().append(at);
    return false;
  }
  return stream < nodes ? port_->settled(stream, at) : port_->for_handlers().settled(stream - nodes, at);
}

// Calls each(stream) for those that may be unsettled, until it returns false.
template <class Each>
void settling::for_active(const Each& each) const noexcept {
  for (const std::uint32_t n : port_->active())
    if (!each(n)) return;
  if (streams_ > port_->nodes + 1)
    for (const std::uint32_t n : port_->for_handlers().active())
      if (!each(port_->nodes + n)) return;
  each(streams_ - 1);
}

// Without memory for all marks, of a few streams from next_ on, one after the other: those that are active change
// meanwhile. False if all of them are settled.
bool settling::take_marks() noexcept {
  for (; next_ < streams_ && left_ < k_few; ++next_)
    if (unsettled(next_) && !settled(next_, few_[left_])) ++left_;
  return left_ != 0;
}

bool settling::begin(worker_port& port, bool with_handlers) noexcept {
  port_ = &port;
  next_ = 0;
  streams_ = port.nodes * (with_handlers ? 2 : 1) + 1;
  passes_ = port.passes_needed();
  port.in_network().end();  // some end when they are begun
  return go_on();
}

// What is withheld is written first. It waits for room as tasks do, but leaves no stack: begin() may not.
bool settling::go_on() noexcept {
  if (const std::uint32_t full = port_->write_withheld(passes_); full != detail::k_all_written) {
    few_[0].all = this;
    few_[0].fire = [](stream_waiter& one) noexcept {
      settling& all = *static_cast<of_node&>(one).all;
      if (all.go_on()) all.done(all);
    };
    port_->when_room(full, few_[0]);
    return false;
  }
  std::uint32_t most = 0;
  for_active([&](std::uint32_t stream) {
    most += unsettled(stream) ? 1 : 0;
    return true;
  });
  if (most == 0) return true;
  if (most > k_few) {
    many_.reset(new (std::nothrow) of_node[most]);
    if (many_ == nullptr) return !take_marks();
  }
  next_ = streams_;
  of_node* const at = many_ != nullptr ? many_.get() : few_.data();
  for_active([&](std::uint32_t stream) {
    if (unsettled(stream) && !settled(stream, at[left_])) ++left_;
    return left_ < most;
  });
  return left_ == 0;
}

}  // namespace shoal::remote
