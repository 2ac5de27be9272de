// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/light_nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/clock.hpp"
#include "launch/control_message.hpp"
#include "machine/process_limits.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

constexpr std::size_t k_most_events = 1024;
constexpr std::uint64_t k_spare_descriptors = 512;

}  // namespace

struct light_nodes::one {
  machine::socket socket;
  launch::opening mine;
  launch::frame_reader frames;
  launch::send_queue queue;
  std::vector<std::byte> challenge;
  bool knows_hub = false;
  bool watches_room = false;
  std::uint32_t parts = 0;
  blocks received;
};

light_nodes::light_nodes(const launch::hub_place& place, std::uint32_t nodes, std::int64_t timeout_ns)
    : nodes_(nodes),
      timeout_ns_(timeout_ns),
      secret_(launch::parse_secret(place.secret).value()),
      ready_(k_most_events),
      all_(nodes) {
  // The hub may be in this process, too.
  const std::uint64_t wanted = 2 * std::uint64_t{nodes} + k_spare_descriptors;
  if (const std::uint64_t limit = machine::allow_descriptors(wanted); limit < wanted)
    throw error(errc::exhausted,
                fmt::format("{} nodes in one process need {} open descriptors, and {} are allowed; raise the limit "
                            "(ulimit -Hn)",
                            nodes, wanted, limit));
  for (std::uint32_t n = 0; n < nodes; ++n) {
    all_[n].socket = machine::socket::connect(place.host, place.port, timeout_ns);
    ready_.add(all_[n].socket.descriptor(), n, true, false);
  }
  for (std::uint32_t n = 0; n < nodes; ++n) {
    all_[n].mine = {launch::k_control_version, n, launch::new_nonce()};
    const auto first = all_[n].mine.bytes();
    send(n, {first.begin(), first.end()});
  }
  run_until_all_are_done("be welcomed");
}

light_nodes::~light_nodes() = default;

std::vector<light_nodes::blocks> light_nodes::exchange(
    const std::function<std::vector<std::byte>(std::uint32_t)>& part_of, const std::vector<std::uint32_t>& order) {
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    const std::uint32_t n = order.empty() ? i : order[i];
    send(n, launch::frame_bytes(launch::frame_type::given, part_of(n)));
  }
  run_until_all_are_done("exchange parts");
  std::vector<blocks> result;
  for (one& node : all_) {
    result.push_back(std::exchange(node.received, {}));
    node.parts = 0;
  }
  return result;
}

void light_nodes::leave() {
  leaving_ = true;
  for (std::uint32_t n = 0; n < nodes_; ++n) send(n, launch::frame_bytes(launch::frame_type::leave, {}));
  run_until_all_are_done("leave");
}

void light_nodes::run_until_all_are_done(const char* what) {
  const std::uint64_t deadline_ns = base::now_ns() + static_cast<std::uint64_t>(timeout_ns_);
  while (done_ < nodes_) {
    const std::uint64_t now = base::now_ns();
    if (now >= deadline_ns)
      throw error(errc::timeout, fmt::format("{} of {} nodes did not {} in time", nodes_ - done_, nodes_, what));
    for (const auto& ready : ready_.wait(static_cast<std::int64_t>(deadline_ns - now)))
      move_on(static_cast<std::uint32_t>(ready.tag), ready);
  }
  done_ = 0;
}

void light_nodes::move_on(std::uint32_t node, const machine::ready_set::event& ready) {
  one& me = all_[node];
  if (ready.readable) read(node);
  if (!me.socket.open()) return;
  if (!me.queue.flush(me.socket)) throw error(errc::peer_lost, "the hub has ended a connection");
  if (me.queue.empty() != me.watches_room) return;
  me.watches_room = !me.queue.empty();
  ready_.change(me.socket.descriptor(), node, true, me.watches_room);
}

void light_nodes::send(std::uint32_t node, std::vector<std::byte> bytes) {
  one& me = all_[node];
  me.queue.add(std::move(bytes));
  me.queue.flush(me.socket);  // a failure is seen by the next read
  if (me.queue.empty() || me.watches_room) return;
  me.watches_room = true;
  ready_.change(me.socket.descriptor(), node, true, true);
}

void light_nodes::read(std::uint32_t node) {
  one& me = all_[node];
  if (!me.knows_hub && !shake_hands(node)) return;
  std::array<std::byte, 16384> room;
  for (;;) {
    const machine::transfer got = me.socket.receive(room);
    if (got.state == machine::stream_state::blocked) break;
    if (got.state == machine::stream_state::closed) {
      if (!leaving_) throw error(errc::peer_lost, fmt::format("the hub has ended the connection of node {}", node));
      me.socket.close();
      ++done_;
      return;
    }
    me.frames.add(std::span(room).first(got.bytes));
  }
  while (auto f = me.frames.next()) take(node, std::move(*f));
  if (me.frames.broken()) throw error(errc::bad_input, "the hub has sent what no hub sends");
}

// True once the hub has proved that it knows the secret, and has been answered.
bool light_nodes::shake_hands(std::uint32_t node) {
  one& me = all_[node];
  std::array<std::byte, launch::k_challenge_bytes> room;
  while (me.challenge.size() < room.size()) {
    const machine::transfer got = me.socket.receive(std::span(room).subspan(me.challenge.size()));
    if (got.state == machine::stream_state::blocked) return false;
    if (got.state == machine::stream_state::closed)
      throw error(errc::peer_lost, fmt::format("the hub has not let in node {}", node));
    me.challenge.insert(me.challenge.end(), room.begin() + static_cast<std::ptrdiff_t>(me.challenge.size()),
                        room.begin() + static_cast<std::ptrdiff_t>(me.challenge.size() + got.bytes));
  }
  const auto theirs = launch::challenge::parse(me.challenge);
  if (!theirs || theirs->proof != launch::hub_proof(secret_, me.mine, theirs->number))
    throw error(errc::mismatch, "what answers is not the hub of this job");
  const auto answer = launch::answer_bytes(launch::node_proof(secret_, me.mine, theirs->number));
  send(node, {answer.begin(), answer.end()});
  const launch::hello_message hello{node, nodes_, {node + 1, fmt::format("light-{}", node)}, "code", "settings"};
  send(node, launch::frame_bytes(launch::frame_type::hello, hello.bytes()));
  me.knows_hub = true;
  return true;
}

void light_nodes::take(std::uint32_t node, launch::frame f) {
  one& me = all_[node];
  switch (f.type) {
    case launch::frame_type::welcome: {
      const auto m = launch::welcome_message::parse(f.payload);
      if (!m || m->nodes != nodes_) throw error(errc::bad_input, "a welcome that does not fit");
      ++done_;
      return;
    }
    case launch::frame_type::parts: {
      const auto m = launch::parts_block::parse(f.payload, nodes_);
      if (!m) throw error(errc::bad_input, "parts that do not fit");
      me.parts += m->count();
      me.received.push_back(std::move(f.payload));
      if (me.parts == nodes_) ++done_;
      return;
    }
    case launch::frame_type::life: return;
    default: throw error(errc::peer_lost, fmt::format("the hub has refused node {} or ended the job", node));
  }
}

}  // namespace shoal::bench
