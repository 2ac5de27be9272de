// SPDX-License-Identifier: Apache-2.0
#include "cluster/team_messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "cluster/team.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {
namespace {

constexpr std::size_t k_head_words = 6;
constexpr std::size_t k_most_part_words = 1400;
constexpr const char* k_misshapen = "another node has sent a message of a team that is too short";

void write_head(std::uint64_t* words, const letter_head& h) noexcept {
  words[0] = h.team;
  words[1] = h.name.group;
  words[2] = h.name.call;
  words[3] = std::uint64_t{h.name.member} << 32 | h.name.step;
  words[4] = h.what.word();
  words[5] = h.bytes;
}
letter_head read_head(const arrival& a) noexcept {
  const auto& w = a.payload;
  SHOAL_ASSERT(w.size() >= k_head_words, k_misshapen);
  return {
      w[0], {w[1], w[2], static_cast<std::uint32_t>(w[3] >> 32), static_cast<std::uint32_t>(w[3])}, called(w[4]), w[5]};
}

cluster::node_teams& teams_of(const arrival& a) noexcept { return *a.worker.port->context->teams; }

void receive_letter(const arrival& a) noexcept {
  const letter_head head = read_head(a);
  SHOAL_ASSERT(words_for(head.bytes) <= a.payload.size() - k_head_words, k_misshapen);
  teams_of(a).of(head.team)->on_letter(a.from, head, a.payload.subspan(k_head_words));
}

void receive_request(const arrival& a) noexcept {
  const letter_head head = read_head(a);
  teams_of(a).of(head.team)->on_request(a, head);
}

void receive_part(const arrival& a) noexcept {
  const letter_head head = read_head(a);
  SHOAL_ASSERT(a.payload.size() > k_head_words && a.payload[k_head_words] <= head.bytes, k_misshapen);
  if (const auto team = teams_of(a).find(head.team))
    team->on_part(head, a.payload[k_head_words], a.payload.subspan(k_head_words + 1));
}

// A member may have left before these two arrive.
void receive_grant(const arrival& a) noexcept {
  const letter_head head = read_head(a);
  if (const auto team = teams_of(a).find(head.team)) team->on_grant(head.name);
}
void receive_taken(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 2, k_misshapen);
  if (const auto team = teams_of(a).find(a.payload[0])) team->on_taken(a.from, a.payload[1]);
}

void receive_announcement(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 5, k_misshapen);
  teams_of(a)
      .of(a.payload[0])
      ->on_announcement(a.payload[1], static_cast<std::uint32_t>(a.payload[2]), a.payload[3], called(a.payload[4]));
}

std::size_t hear_failure(std::uint32_t from, std::span<const std::uint64_t> words, std::uint64_t*) {
  const team_failure f = remote::read_failure(words);
  if (this_port().context->teams->of(words[0])->on_failure(f)) spread_failure(words[0], f, from);
  return 0;
}

// A message of a head, words that write() writes, and nothing else.
template <receiver_function F, class Write>
void send_message(std::uint32_t node, const letter_head& head, std::size_t more_words, const Write& write) {
  static const std::uint64_t code = code_of(receiver_of<F>());
  const tsan_ignore_scope ignore;
  stream& s = begin_message(*t_worker, node, code, k_head_words + more_words);
  write_head(s.cursor, head);
  write(s.cursor + k_head_words);
  s.cursor += k_head_words + more_words;
}

void write_bytes(std::uint64_t* words, std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  words[words_for(bytes.size()) - 1] = 0;
  std::memcpy(words, bytes.data(), bytes.size());
}

}  // namespace

void send_letter(std::uint32_t node, const letter_head& head, std::span<const std::byte> bytes) {
  send_message<receive_letter>(node, head, words_for(bytes.size()), [&](auto* words) { write_bytes(words, bytes); });
}

void send_request(std::uint32_t node, const letter_head& head) {
  send_message<receive_request>(node, head, 0, [](auto*) {});
}

void send_grant(std::uint32_t node, std::uint64_t team, const letter_name& name) {
  send_message<receive_grant>(node, {team, name, {}, 0}, 0, [](auto*) {});
}

void send_parts(std::uint32_t node, const letter_head& head, std::span<const std::byte> bytes) {
  constexpr std::size_t k_most = k_most_part_words * sizeof(std::uint64_t);
  for (std::size_t offset = 0; offset < bytes.size(); offset += k_most) {
    const auto part = bytes.subspan(offset, std::min(k_most, bytes.size() - offset));
    send_message<receive_part>(node, head, 1 + words_for(part.size()), [&](std::uint64_t* words) {
      words[0] = offset;
      write_bytes(words + 1, part);
    });
  }
}

void send_taken(std::uint32_t node, std::uint64_t team, std::uint64_t bytes) {
  send(*t_worker, node, receiver_of<receive_taken>(), std::array{team, bytes});
}

void send_announcement(std::uint32_t node, std::uint64_t team, std::uint64_t group, std::uint32_t rank,
                       std::uint64_t number, called what) {
  send(*t_worker, node, receiver_of<receive_announcement>(),
       std::array{team, group, std::uint64_t{rank}, number, what.word()});
}

void spread_failure(std::uint64_t team, const team_failure& f, std::uint32_t from) {
  const auto words = remote::pack_failure(team, f);
  const port& p = this_port();
  completion calls;  // waited for, so that nothing of the team arrives after its end
  const auto tell = [&](std::uint64_t n) {
    if (n < p.nodes && n != from) begin_call(calls, static_cast<std::uint32_t>(n), callee_of<hear_failure>(), words);
  };
  if (p.node != 0) tell((p.node - 1) / 2);
  tell(2 * std::uint64_t{p.node} + 1);
  tell(2 * std::uint64_t{p.node} + 2);
  calls.wait();
}

}  // namespace shoal::detail
