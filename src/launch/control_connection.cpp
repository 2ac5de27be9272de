// SPDX-License-Identifier: Apache-2.0
#include "launch/control_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "launch/roster.hpp"
#include "launch/start_errors.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr std::chrono::milliseconds k_attempt_pause{50};
// The hub names the missing nodes when its own time is over: a message of this end would be less precise.
constexpr std::uint64_t k_patience_ns = 2'000'000'000;
constexpr std::uint64_t k_goodbye_ns = 1'000'000'000;

std::int64_t until(std::uint64_t deadline_ns) noexcept {
  const std::uint64_t now = base::now_ns();
  return deadline_ns > now ? static_cast<std::int64_t>(deadline_ns - now) : 0;
}

}  // namespace

control::connection::connection(const hub_place& place, const identity& me, std::int64_t timeout_ns)
    : me_(me), address_(place.host + ":" + std::to_string(place.port)) {
  const std::uint64_t deadline_ns = base::now_ns() + static_cast<std::uint64_t>(std::max<std::int64_t>(timeout_ns, 0));
  // A connection that ends without a word had to make room for others, or its hub has ended: the next try shows which.
  while (!come(place, deadline_ns) || !wait_for_welcome(deadline_ns + k_patience_ns)) {
    if (base::now_ns() >= deadline_ns)
      throw error(
          errc::peer_lost,
          fmt::format("the hub of this job at {} ends every connection; are too many others asking there?", address_));
    socket_.close();
    frames_ = {};
    queue_ = {};
    std::this_thread::sleep_for(k_attempt_pause);
  }
  if (welcome_->nodes != me_.nodes)
    throw error(errc::mismatch, fmt::format("the hub of this job at {} welcomes {} nodes, and this one knows of {}",
                                            address_, welcome_->nodes, me_.nodes));
  heard_ns_ = base::now_ns();
}

bool control::connection::come(const hub_place& place, std::uint64_t deadline_ns) {
  const auto secret = parse_secret(place.secret);
  if (!secret) throw error(errc::bad_input, "the job's secret is not 32 hexadecimal digits; the launcher sets it");
  socket_ = machine::socket::connect(place.host, place.port, until(deadline_ns));
  const opening mine{k_control_version, me_.node, new_nonce()};
  const auto first = mine.bytes();
  {
    const std::lock_guard lock(mutex_);
    queue_.add(std::vector<std::byte>(first.begin(), first.end()));
  }
  flush();
  std::array<std::byte, k_challenge_bytes> room{};
  if (!receive_all(room, deadline_ns)) return false;
  const auto theirs = challenge::parse(room);
  if (!theirs)
    throw error(errc::mismatch, fmt::format("what listens at {} is not the hub of a job; was the launcher's "
                                            "environment handed to another program?",
                                            address_));
  if (theirs->version != k_control_version)
    throw error(errc::mismatch, fmt::format("the hub of this job at {} is of another version of Shoal; start all nodes "
                                            "and the launcher from the same build",
                                            address_));
  if (theirs->proof != hub_proof(*secret, mine, theirs->number))
    throw error(errc::mismatch,
                fmt::format("the hub at {} does not know this job's secret: it is another job's", address_));
  const auto answer = answer_bytes(node_proof(*secret, mine, theirs->number));
  {
    const std::lock_guard lock(mutex_);
    queue_.add(std::vector<std::byte>(answer.begin(), answer.end()));
  }
  const peer self{static_cast<std::uint32_t>(machine::own_pid()), machine::host_name()};
  send(frame_type::hello, hello_message{me_.node, me_.nodes, self, me_.code, me_.settings}.bytes());
  return true;
}

// False if the hub ends the connection first.
bool control::connection::receive_all(std::span<std::byte> room, std::uint64_t deadline_ns) {
  while (!room.empty()) {
    const machine::transfer got = socket_.receive(room);
    if (got.state == machine::stream_state::closed) return false;
    room = room.subspan(got.bytes);
    if (got.state == machine::stream_state::moved) continue;
    machine::poll_set ready;
    ready.add(socket_.descriptor(), true, false);
    if (!ready.wait(until(deadline_ns)))
      throw error(errc::timeout, fmt::format("what listens at {} does not answer as the hub of a job does; is the "
                                             "program that started this job still running?",
                                             address_));
  }
  return true;
}

bool control::connection::wait_for_welcome(std::uint64_t deadline_ns) {
  while (socket_.open() && !welcome_ && !refusal_) {
    step(deadline_ns, -1);
    if (base::now_ns() >= deadline_ns)
      throw error(errc::timeout, fmt::format("the hub of this job at {} has not said that all nodes are there; has it "
                                             "been stopped?",
                                             address_));
  }
  if (refusal_) throw error(refusal_->code, refusal_->why);
  return welcome_.has_value();
}

std::vector<std::vector<std::byte>> control::connection::exchange(std::span<const std::byte> mine) {
  if (mine.size() > k_most_part_bytes)
    throw error(errc::invalid_argument,
                fmt::format("a node gives at most {} bytes at once, not {}", k_most_part_bytes, mine.size()));
  parts_.assign(me_.nodes, std::nullopt);
  parts_missing_ = me_.nodes;
  if (!news_) send(frame_type::given, mine);
  while (parts_missing_ != 0 && !news_) step(~std::uint64_t{0}, -1);
  if (parts_missing_ != 0) throw error(news_->signal != 0 ? errc::stopped : errc::peer_lost, news_->why);
  std::vector<std::vector<std::byte>> result;
  for (auto& part : parts_) result.push_back(std::move(*part));
  return result;
}

void control::connection::leave() {
  if (left_ || !socket_.open()) return;
  left_ = true;
  send(frame_type::leave, {});
  // The hub closes the connection when it has read this; closing it here might drop data in flight.
  const std::uint64_t deadline_ns = base::now_ns() + k_goodbye_ns;
  while (socket_.open() && base::now_ns() < deadline_ns) step(deadline_ns, -1);
  close();
}

std::optional<loss> control::connection::watch(std::int64_t timeout_ns, int wake_descriptor) {
  const std::uint64_t deadline_ns =
      timeout_ns < 0 ? ~std::uint64_t{0} : base::now_ns() + static_cast<std::uint64_t>(timeout_ns);
  live_regularly();
  for (;;) {
    if (news_ && !left_ && !std::exchange(told_, true)) return news_;
    if (step(deadline_ns, wake_descriptor)) return std::nullopt;
    if ((left_ || !news_ || told_) && base::now_ns() >= deadline_ns) return std::nullopt;
  }
}

void control::connection::live_regularly() {
  if (std::exchange(regular_, true) || left_) return;
  // Behind whatever waits to be sent: that alone would not say it.
  send(frame_type::life, std::array{std::byte{1}});
  beat_ns_ = base::now_ns();
}

// Waits until something has come, this end's next sign of life is due, or the time is over. True if woken.
bool control::connection::step(std::uint64_t until_ns, int wake_descriptor) {
  beat(base::now_ns());
  machine::poll_set ready;
  bool sends = false;
  {
    const std::lock_guard lock(mutex_);
    sends = !queue_.empty();
  }
  const std::size_t hub = ready.add(socket_.descriptor(), true, sends);
  const std::size_t wake = ready.add(wake_descriptor, true, false);
  const std::uint64_t next = next_ns(until_ns);
  ready.wait(next == ~std::uint64_t{0} ? -1 : until(next));
  const std::uint64_t now = base::now_ns();
  if (ready.writable(hub)) flush();
  if (ready.readable(hub)) read(now);
  const bool judged = socket_.open() && welcome_ && welcome_->silence_ns != 0 && !news_ && !left_;
  if (judged && now > heard_ns_ && now - heard_ns_ >= static_cast<std::uint64_t>(welcome_->silence_ns))
    hub_is_lost(fmt::format("has said nothing for {}: stopped, or its link is cut", seconds(welcome_->silence_ns)));
  return ready.readable(wake);
}

std::uint64_t control::connection::next_ns(std::uint64_t deadline_ns) const noexcept {
  if (!socket_.open() || !welcome_ || welcome_->silence_ns == 0 || left_) return deadline_ns;
  const std::uint64_t next_beat = beat_ns_ + static_cast<std::uint64_t>(beat_interval_ns(welcome_->silence_ns));
  const std::uint64_t judgement =
      news_ ? ~std::uint64_t{0} : heard_ns_ + static_cast<std::uint64_t>(welcome_->silence_ns);
  return std::min({deadline_ns, next_beat, judgement});
}

void control::connection::beat(std::uint64_t now_ns) {
  if (!socket_.open() || !welcome_ || welcome_->silence_ns == 0 || left_) return;
  const auto interval_ns = static_cast<std::uint64_t>(beat_interval_ns(welcome_->silence_ns));
  if (now_ns - beat_ns_ < interval_ns) return;
  beat_ns_ = now_ns;
  const std::array<std::byte, 1> sign{regular_ ? std::byte{1} : std::byte{0}};
  {
    const std::lock_guard lock(mutex_);
    if (!queue_.empty()) return;  // what waits there is sign enough
  }
  send(frame_type::life, sign);
}

void control::connection::read(std::uint64_t now_ns) {
  std::array<std::byte, 16384> room;
  bool ended = false;
  for (;;) {
    const machine::transfer got = socket_.receive(room);
    ended = got.state == machine::stream_state::closed;
    if (got.state != machine::stream_state::moved) break;
    heard_ns_ = now_ns;
    frames_.add(std::span(room).first(got.bytes));
    while (const auto f = frames_.next()) take(*f);
    if (frames_.broken()) break;
  }
  if (frames_.broken()) return hub_is_lost("has sent what no hub sends");
  if (!ended) return;
  if (welcome_ && !left_) return hub_is_lost("has ended before its time");
  close();
}

void control::connection::take(const frame& f) {
  switch (f.type) {
    case frame_type::welcome:
      if (auto m = welcome_message::parse(f.payload); m && !welcome_) welcome_ = std::move(m);
      return;
    case frame_type::refusal:
      if (auto m = refusal_message::parse(f.payload)) refusal_ = std::move(m);
      return;
    case frame_type::parts:
      if (const auto m = parts_block::parse(f.payload, static_cast<std::uint32_t>(parts_.size())))
        m->for_each([this](std::uint32_t node, std::span<const std::byte> part) {
          if (parts_[node]) return;
          parts_[node].emplace(part.begin(), part.end());
          --parts_missing_;
        });
      return;
    case frame_type::lost:
    case frame_type::stop:
      if (auto m = loss_message::parse(f.payload); m && !news_)
        news_ = loss{m->node, std::move(m->why), f.type == frame_type::stop ? static_cast<int>(m->signal) : 0};
      return;
    default: return;  // signs of life
  }
}

void control::connection::announce(frame_type type, const loss_message& what) { send(type, what.bytes()); }

void control::connection::send(frame_type type, std::span<const std::byte> payload) {
  {
    const std::lock_guard lock(mutex_);
    if (!socket_.open()) return;
    queue_.add(frame_bytes(type, payload));
  }
  flush();
}

void control::connection::flush() {
  const std::lock_guard lock(mutex_);
  if (socket_.open() && !queue_.flush(socket_)) queue_ = {};  // the next read finds the end
}

void control::connection::hub_is_lost(const std::string& how) {
  if (!welcome_) {
    if (!news_) news_ = loss{k_no_node, "what answers in place of the hub " + how, 0};
    return close();
  }
  const bool beside_node_0 = welcome_->first == welcome_->hub;
  const std::string name =
      beside_node_0 ? launch::describe(0, welcome_->first) + ", which ran the hub of this job,"
                    : fmt::format("the launcher (host {}, process {})", welcome_->hub.host, welcome_->hub.pid);
  if (!news_) news_ = loss{beside_node_0 ? 0 : k_no_node, name + " " + how, 0};
  close();
}

void control::connection::close() {
  const std::lock_guard lock(mutex_);
  socket_.close();
}

}  // namespace shoal::launch
