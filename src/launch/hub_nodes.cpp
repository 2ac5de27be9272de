// SPDX-License-Identifier: Apache-2.0
// The hub's handling of messages from nodes: arrival, exchanges, departure, and the notification of other nodes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "launch/byte_stream.hpp"
#include "launch/hub_service.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

using stage = hub_link::stage;

// Of the parts in one frame, if there is more than one.
constexpr std::size_t k_block_bytes = std::size_t{1} << 20;

}  // namespace

void hub::service::take(hub_link& link, frame f) {
  if (link.at() == stage::hello) return greet(link, f);
  const std::uint32_t node = link.node();
  switch (f.type) {
    case frame_type::given:
      if (f.payload.size() > k_most_part_bytes || !roster_.give(node, std::move(f.payload))) break;
      return pass_on_parts();
    case frame_type::life:
      if (f.payload.size() != 1) break;
      link.lives_regularly = f.payload[0] != std::byte{0};
      if (options_.silence_ns != 0) wake_at(link.heard_ns, silence_allowed_ns(link));
      return;
    case frame_type::leave:
      roster_.leave(node);
      close(link);
      return pass_on_parts();
    case frame_type::lost:
      if (const auto m = loss_message::parse(f.payload); m && m->node < roster_.size()) {
        lose(m->node,
             fmt::format("{} cannot be reached by {}: {}", roster_.describe(m->node), roster_.describe(node), m->why));
        return;
      }
      break;
    default: break;
  }
  lose(node, roster_.describe(node) + " has sent what no node sends");
  has_ended(link);
}

void hub::service::greet(hub_link& link, const frame& f) {
  const auto hello = hello_message::parse(f.payload);
  if (f.type != frame_type::hello || !hello || hello->node != link.node()) {
    log_stranger(link, "what it sent is not how a node begins");
    return close(link);
  }
  link.since_ns = base::now_ns();
  link.go_to(stage::farewell);
  move_to(farewells_, link);
  wake_at(link.since_ns, k_farewell_ns);
  if (refusal_) return send(link, frame_type::refusal, refusal_->bytes());
  auto wrong = roster_.come(*hello);
  if (wrong) {
    send(link, frame_type::refusal, wrong->bytes());
    if (!begun_) refuse_all(hello->node, std::move(*wrong));
    return;
  }
  link.go_to(stage::member);
  move_to(members_, link);
  if (roster_.complete()) begin();
}

void hub::service::begin() {
  begun_ = true;
  beat_ns_ = base::now_ns();
  for (hub_link& link : members_) link.heard_ns = beat_ns_;  // they sent no signs of life while they waited
  look_ns_ = beat_ns_;
  broadcast(frame_type::welcome,
            welcome_message{options_.silence_ns, roster_.size(), self_, roster_.peer_of(0)}.bytes());
}

void hub::service::pass_on_parts() {
  if (!begun_ || failure_ || !roster_.any_given()) return;
  if (const auto n = roster_.left()) {
    lose(*n, roster_.describe(*n) + " has left while others wait for it");
    return;
  }
  if (!roster_.all_given()) return;
  const auto parts = roster_.take_parts();
  for (std::uint32_t first = 0; first < roster_.size();) {
    std::uint32_t end = first;
    for (std::size_t bytes = 0; end < roster_.size() && (end == first || bytes + parts[end].size() <= k_block_bytes);)
      bytes += parts[end++].size();
    broadcast(frame_type::parts, parts_block::bytes(first, std::span(parts).subspan(first, end - first)));
    first = end;
  }
}

void hub::service::has_ended(hub_link& link) {
  const std::uint32_t node = link.node();
  const stage was = link.at();
  if (was == stage::closed) return;
  if (!link.proven() || was == stage::hello) log_stranger(link, "it ended the connection before it said who it is");
  close(link);
  if (was != stage::member) return;
  roster_.end(node);
  lose(node, roster_.describe(node) + " has ended before its time");
}

bool hub::service::lose(std::uint32_t node, std::string why) {
  if (failure_ || refusal_) return false;
  if (!begun_) {
    refuse_all(node, {errc::peer_lost, why + "; the job has not begun"});
    return true;
  }
  failure_ = loss{node, std::move(why), 0};
  news_.wake();
  broadcast(frame_type::lost, loss_message{node, 0, failure_->why}.bytes());
  return true;
}

void hub::service::refuse_all(std::uint32_t node, refusal_message why) {
  if (refusal_) return;
  refusal_ = std::move(why);
  failure_ = loss{node, refusal_->why, 0};
  news_.wake();
  broadcast(frame_type::refusal, refusal_->bytes());
}

void hub::service::stop_all(int signal) {
  if (failure_ || refusal_) return;
  const std::string why = fmt::format("the job was told to stop by signal {}", signal);
  if (!begun_) {
    refusal_ = refusal_message{errc::stopped, why};
    failure_ = loss{k_no_node, why, signal};
    broadcast(frame_type::refusal, refusal_->bytes());
  } else {
    failure_ = loss{k_no_node, why, signal};
    broadcast(frame_type::stop, loss_message{k_no_node, static_cast<std::uint32_t>(signal), why}.bytes());
  }
  news_.wake();
}

void hub::service::broadcast(frame_type type, std::span<const std::byte> payload) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(frame_bytes(type, payload));
  // The node of this process last: the message may end the process.
  for (const bool own : {false, true})
    for (hub_link& link : members_)
      if (link.at() == stage::member && (roster_.peer_of(link.node()) == self_) == own) send(link, bytes);
}

}  // namespace shoal::launch
