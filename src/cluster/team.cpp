// SPDX-License-Identifier: Apache-2.0
#include "cluster/team.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "fiber/sanitizer.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/spmd.hpp"

namespace shoal::cluster {

detail::team_state& node_teams::of(std::uint64_t id) {
  const std::lock_guard guard(lock_);
  auto& t = teams_[id];
  if (!t) t = std::make_unique<detail::team_state>(id);
  return *t;
}

void node_teams::forget(std::uint64_t id) noexcept {
  const std::lock_guard guard(lock_);
  teams_.erase(id);
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

cluster::node_teams& teams_of(port& p) noexcept { return *p.context->teams; }

void receive_letter(const arrival& a) noexcept {
  teams_of(*a.worker.port).of(a.payload[0]).deliver(a.payload[1], a.payload.subspan(2));
}

// Keys of the letters of one collective: its sequence number and the step within it.
constexpr unsigned k_step_bits = 8;
constexpr std::uint64_t k_down_step = (1U << k_step_bits) - 1;
std::uint64_t key_of(std::uint64_t sequence, std::uint64_t step) noexcept { return sequence << k_step_bits | step; }

}  // namespace

void team_state::send(std::uint32_t node, std::uint64_t key, std::span<const std::uint64_t> words) {
  std::vector<std::uint64_t> payload(2 + words.size());
  payload[0] = id_;
  payload[1] = key;
  std::copy(words.begin(), words.end(), payload.begin() + 2);
  detail::send(*t_worker, node, receive_letter, payload);
}

void team_state::deliver(std::uint64_t key, std::span<const std::uint64_t> words) {
  suspended* wanted = nullptr;
  {
    const std::lock_guard guard(lock_);
    letters_.emplace(key, std::vector<std::uint64_t>(words.begin(), words.end()));
    if (waiter_ != nullptr && awaited_key_ == key) wanted = std::exchange(waiter_, nullptr);
  }
  if (wanted != nullptr) wake(wanted);
}

std::vector<std::uint64_t> team_state::take(std::uint64_t key) {
  flush_all(this_port());  // another member waits for our message
  for (;;) {
    {
      const std::lock_guard guard(lock_);
      if (const auto found = letters_.find(key); found != letters_.end()) {
        auto words = std::move(found->second);
        letters_.erase(found);
        return words;
      }
      awaited_key_ = key;
      waiter_ = this_task();
    }
    leave();
  }
}

std::uint64_t new_team_id() noexcept { return teams_of(this_port()).new_id(); }
team_state& enter_team(std::uint64_t id) { return teams_of(this_port()).of(id); }
void leave_team(std::uint64_t id) noexcept { teams_of(this_port()).forget(id); }

}  // namespace shoal::detail

namespace shoal {

using detail::key_of;

void team::barrier() {
  detail::settle_all(detail::this_port());
  const std::uint64_t sequence = state_.next_sequence();
  const std::uint32_t n = size();
  for (std::uint32_t step = 0, distance = 1; distance < n; ++step, distance *= 2) {
    state_.send((rank() + distance) % n, key_of(sequence, step), {});
    state_.take(key_of(sequence, step));
  }
}

// A binomial tree with root 0: in step s a member whose bit s is set sends its value to the member with that bit clear,
// and is done.
// The receiver holds the values of the lower nodes, so values are combined in ascending order.
void team::up(std::uint64_t* words, std::size_t count, fold_function function, const void* fold) {
  const std::uint64_t sequence = state_.next_sequence();
  for (std::uint32_t step = 0, distance = 1; distance < size(); ++step, distance *= 2) {
    if ((rank() & distance) != 0) {
      state_.send(rank() - distance, key_of(sequence, step), {words, count});
      return;
    }
    if (rank() + distance < size()) function(fold, state_.take(key_of(sequence, step)).data());
  }
}

void team::down(std::uint32_t root, std::uint64_t* words, std::size_t count) {
  const std::uint64_t sequence = state_.next_sequence();
  const std::uint32_t n = size();
  const std::uint32_t mine = (rank() + n - root) % n;  // the tree's numbering: its root is 0
  std::uint32_t distance = std::bit_ceil(n);
  if (mine != 0) {
    const auto got = state_.take(key_of(sequence, detail::k_down_step));
    std::copy(got.begin(), got.end(), words);
    distance = mine & (~mine + 1);  // the lowest bit gives the parent
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (mine + distance < n)
      state_.send((mine + distance + root) % n, key_of(sequence, detail::k_down_step), {words, count});
}

}  // namespace shoal
