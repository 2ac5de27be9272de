// SPDX-License-Identifier: Apache-2.0
#include "launch/hub_link.hpp"

#include <span>

namespace shoal::launch {
namespace {

// The bytes of one connection in a row, before other connections are read.
constexpr std::size_t k_turn_bytes = std::size_t{256} << 10;

std::vector<std::byte> as_vector(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

void hub_link::close() noexcept {
  stage_ = stage::closed;
  socket_.close();
}

hub_link::progress hub_link::refuse(const char* why) noexcept {
  why_ = why;
  return progress::refused;
}

hub_link::progress hub_link::read(const job_secret& secret, std::uint64_t now_ns) {
  if (!proven()) {
    const progress made = shake_hands(secret);
    if (made != progress::moved || !proven()) return made;
    since_ns = heard_ns = now_ns;
  }
  std::array<std::byte, 16384> room;
  for (std::size_t turn = 0; turn < k_turn_bytes;) {
    const machine::transfer got = socket_.receive(room);
    if (got.state == machine::stream_state::closed) return progress::ended;
    if (got.state == machine::stream_state::blocked) break;
    frames_.add(std::span(room).first(got.bytes));
    heard_ns = now_ns;
    turn += got.bytes;
  }
  return progress::moved;
}

hub_link::progress hub_link::shake_hands(const job_secret& secret) {
  for (;;) {
    const std::size_t wanted = stage_ == stage::opening ? k_opening_bytes : k_answer_bytes;
    while (first_count_ < wanted) {
      const machine::transfer got = socket_.receive(std::span(first_).first(wanted).subspan(first_count_));
      if (got.state == machine::stream_state::closed)
        return refuse("it ended the connection without proving that it knows the job's secret");
      if (got.state == machine::stream_state::blocked) return progress::none;
      first_count_ += got.bytes;
    }
    first_count_ = 0;
    if (stage_ == stage::answer) {
      if (parse_answer(std::span(first_).first(wanted)) != node_proof(secret, opening_, number_))
        return refuse("it does not know the job's secret");
      stage_ = stage::hello;
      return progress::moved;
    }
    const auto theirs = opening::parse(first_);
    if (!theirs) return refuse("what it sent is not how a node begins");
    opening_ = *theirs;
    number_ = new_nonce();
    queue_.add(as_vector(challenge{k_control_version, number_, hub_proof(secret, opening_, number_)}.bytes()));
    // It reads our version and reports the mismatch.
    if (theirs->version != k_control_version) {
      flush();
      return refuse("it is of another version of Shoal");
    }
    stage_ = stage::answer;
    if (!flush()) return refuse("it ended the connection without proving that it knows the job's secret");
  }
}

}  // namespace shoal::launch
