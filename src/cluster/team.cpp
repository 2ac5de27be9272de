// SPDX-License-Identifier: Apache-2.0
#include "cluster/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/shorten.hpp"
#include "fiber/sanitizer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/remote_error.hpp"
#include "shoal/spmd.hpp"

namespace shoal::cluster {

std::shared_ptr<detail::team_state> node_teams::of(std::uint64_t id) {
  const std::lock_guard guard(lock_);
  auto& t = teams_[id];
  if (!t) t = std::make_shared<detail::team_state>(id);
  return t;
}

void node_teams::forget(std::uint64_t id) noexcept {
  const std::lock_guard guard(lock_);
  teams_.erase(id);
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

constexpr std::uint64_t k_down_step = (1U << team_state::k_step_bits) - 1;
constexpr std::size_t k_most_text_bytes = 2000;

cluster::node_teams& teams_of(port& p) noexcept { return *p.context->teams; }
std::shared_ptr<team_state> state_of(const arrival& a) { return teams_of(*a.worker.port).of(a.payload[0]); }

constexpr const char* k_misshapen = "another node has sent a message of a team that is too short";

void receive_letter(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 3, k_misshapen);
  state_of(a)->deliver(a.from, a.payload[1], called(a.payload[2]), a.payload.subspan(3));
}

void receive_announcement(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 3, k_misshapen);
  state_of(a)->announce(a.from, a.payload[1], called(a.payload[2]));
}

// Code and node, the two lengths, the texts.
std::vector<std::uint64_t> pack(std::uint64_t id, const team_failure& f) {
  const std::string type = base::shortened(f.type, k_most_text_bytes);
  const std::string message = base::shortened(f.message, k_most_text_bytes);
  const std::size_t type_words = words_for(type.size());
  std::vector<std::uint64_t> words(4 + type_words + words_for(message.size()));
  words[0] = id;
  words[1] = static_cast<std::uint64_t>(f.code);
  words[2] = f.node;
  words[3] = type.size() << 32 | message.size();
  std::memcpy(words.data() + 4, type.data(), type.size());
  std::memcpy(words.data() + 4 + type_words, message.data(), message.size());
  return words;
}

void receive_notice(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 4, k_misshapen);
  const std::size_t type_bytes = a.payload[3] >> 32;
  const std::size_t message_bytes = a.payload[3] & 0xffffffff;
  SHOAL_ASSERT(words_for(type_bytes) + words_for(message_bytes) <= a.payload.size() - 4, k_misshapen);
  const auto* const type = reinterpret_cast<const char*>(a.payload.data() + 4);
  const auto* const message = reinterpret_cast<const char*>(a.payload.data() + 4 + words_for(type_bytes));
  state_of(a)->learn({static_cast<int>(a.payload[1]), static_cast<std::uint32_t>(a.payload[2]),
                      std::string(type, type_bytes), std::string(message, message_bytes)});
}

std::uint32_t members() noexcept { return this_port().nodes; }
std::uint32_t this_member() noexcept { return this_port().node; }

}  // namespace

std::string called::text() const {
  const std::uint64_t words = word_ >> 32 & 0xffffff;
  switch (what()) {
    case collective::barrier: return "calls barrier()";
    case collective::reduce: return fmt::format("calls reduce() of {} bytes", words * sizeof(std::uint64_t));
    case collective::broadcast:
      return fmt::format("calls broadcast() of {} bytes from member {}", words * sizeof(std::uint64_t),
                         word_ & 0xffffffff);
    case collective::leave: return "returns from the body";
  }
  return "calls what this program does not know";
}

void team_state::begin(called what) {
  ++sequence_;
  now_ = what;
  if (members() == 1) return;
  // The first letter of a barrier goes to the right neighbour anyway.
  if (what.what() != collective::barrier)
    detail::send(*t_worker, (this_member() + 1) % members(), receiver_of<receive_announcement>(),
                 std::array{id_, sequence_, what.word()});
  std::unique_lock held(lock_);
  if (const auto found = theirs_.find(sequence_); found != theirs_.end()) {
    compare((this_member() + members() - 1) % members(), sequence_, what, found->second);
    theirs_.erase(found);
  } else {
    mine_.emplace(sequence_, what);
  }
  if (failure_) throw_failure(held);
}

void team_state::send(std::uint32_t node, std::uint64_t step, std::span<const std::uint64_t> words) {
  std::vector<std::uint64_t> payload(3 + words.size());
  payload[0] = id_;
  payload[1] = key_of(step);
  payload[2] = now_.word();
  std::copy(words.begin(), words.end(), payload.begin() + 3);
  detail::send(*t_worker, node, receiver_of<receive_letter>(), payload);
}

// The caller holds the lock, as in the next two. The first failure is kept.
void team_state::compare(std::uint32_t from, std::uint64_t sequence, called mine, called theirs) {
  if (mine == theirs || failure_) return;
  failure_ = team_failure{
      static_cast<int>(errc::mismatch),
      this_member(),
      {},
      fmt::format("the members of a team do not call the same collectives: as number {}, member {} {} and member {} "
                  "{}; let all members call the same ones in the same order",
                  sequence + 1, this_member(), mine.text(), from, theirs.text())};
  to_tell_ = true;
}

void team_state::compare_with_neighbour(std::uint32_t from, std::uint64_t sequence, called theirs) {
  if (const auto found = mine_.find(sequence); found != mine_.end()) {
    compare(from, sequence, found->second, theirs);
    mine_.erase(found);
  } else {
    theirs_.emplace(sequence, theirs);
  }
}

// Returns when ready() is true, with the lock; throws if the team has failed.
template <class Ready>
void team_state::wait_until(std::unique_lock<std::mutex>& held, const Ready& ready) {
  for (;;) {
    if (failure_) throw_failure(held);
    if (ready()) return;
    waiter_ = this_task();
    held.unlock();
    detail::leave(wait_kind::collective);
    held.lock();
  }
}

void team_state::throw_failure(std::unique_lock<std::mutex>& held) {
  const team_failure f = *failure_;
  const bool to_tell = std::exchange(to_tell_, false);
  held.unlock();
  if (to_tell) {
    const auto words = pack(id_, f);
    for (std::uint32_t n = 0; n < members(); ++n)
      if (n != this_member()) detail::send(*t_worker, n, receiver_of<receive_notice>(), words);
    flush_all(this_port());
  }
  const auto code = static_cast<errc>(f.code);
  if (f.type.empty()) throw error(code, f.message);
  throw remote_error(code, f.node, f.type, f.message);
}

std::vector<std::uint64_t> team_state::take(std::uint64_t step) {
  flush_all(this_port());  // another member waits for our message
  std::unique_lock held(lock_);
  const std::uint64_t key = key_of(step);
  wait_until(held, [this, key] { return letters_.contains(key); });
  const auto found = letters_.find(key);
  letter l = std::move(found->second);
  letters_.erase(found);
  compare(l.from, sequence_, now_, l.what);
  if (failure_) throw_failure(held);  // its words may be fewer or more than were expected
  return std::move(l.words);
}

void team_state::leave() {
  begin(called(collective::leave, 0, 0));
  flush_all(this_port());
  std::unique_lock held(lock_);
  wait_until(held, [this] { return mine_.empty(); });
}

void team_state::tell(team_failure f) {
  std::unique_lock held(lock_);
  if (failure_ && !to_tell_) return;
  if (!failure_) failure_ = std::move(f);
  to_tell_ = true;
  try {
    throw_failure(held);
  } catch (const error&) {  // the caller throws what it has
  }
}

bool team_state::failed() noexcept {
  const std::lock_guard held(lock_);
  return failure_.has_value();
}

void team_state::deliver(std::uint32_t from, std::uint64_t key, called what, std::span<const std::uint64_t> words) {
  const std::uint64_t step = key & k_down_step;
  suspended* wanted = nullptr;
  {
    const std::lock_guard held(lock_);
    letters_.emplace(key, letter{from, what, {words.begin(), words.end()}});
    if (what.what() == collective::barrier && step == 0) compare_with_neighbour(from, key >> k_step_bits, what);
    wanted = std::exchange(waiter_, nullptr);
  }
  if (wanted != nullptr) wake(wanted);
}

void team_state::announce(std::uint32_t from, std::uint64_t sequence, called what) {
  suspended* wanted = nullptr;
  {
    const std::lock_guard held(lock_);
    compare_with_neighbour(from, sequence, what);
    if (failure_ || what.what() == collective::leave) wanted = std::exchange(waiter_, nullptr);
  }
  if (wanted != nullptr) wake(wanted);
}

void team_state::learn(team_failure f) {
  suspended* wanted = nullptr;
  {
    const std::lock_guard held(lock_);
    to_tell_ = false;  // the others hear of this one
    if (!failure_) failure_ = std::move(f);
    wanted = std::exchange(waiter_, nullptr);
  }
  if (wanted != nullptr) wake(wanted);
}

std::uint64_t new_team_id() noexcept { return teams_of(this_port()).new_id(); }

namespace {
std::size_t forget_here(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  teams_of(this_port()).forget(arguments[0]);
  return 0;
}
}  // namespace

void forget_team(std::uint64_t id) {
  completion calls;
  for (std::uint32_t n = 0; n < members(); ++n) begin_call(calls, n, callee_of<forget_here>(), std::array{id});
  calls.wait_and_rethrow();
}

membership::membership(std::uint64_t id) : id_(id), state_(*teams_of(this_port()).of(id)) { set_outermost(true); }

membership::~membership() {
  set_outermost(false);
  teams_of(this_port()).forget(id_);
}

void membership::tell_exception() {
  try {
    rethrow_as_remote();
  } catch (const remote_error& e) {
    state_.tell({static_cast<int>(e.code()), e.node(), e.type(), e.message()});
  }
}

void membership::leave() { state_.leave(); }
bool membership::failed() const noexcept { return state_.failed(); }

}  // namespace shoal::detail

namespace shoal {

void team::begin(detail::collective what, std::uint32_t root, std::size_t words) {
  state_.begin(detail::called(what, root, words));
}

void team::barrier() {
  detail::settle_all(detail::this_port());
  begin(detail::collective::barrier, 0, 0);
  const std::uint32_t n = size();
  for (std::uint32_t step = 0, distance = 1; distance < n; ++step, distance *= 2) {
    state_.send((rank() + distance) % n, step, {});
    state_.take(step);
  }
}

// A binomial tree with root 0: in step s a member whose bit s is set sends its value to the member with that bit clear,
// and is done.
// The receiver holds the values of the lower nodes, so values are combined in ascending order.
void team::up(std::uint64_t* words, std::size_t count, fold_function function, const void* fold) {
  for (std::uint32_t step = 0, distance = 1; distance < size(); ++step, distance *= 2) {
    if ((rank() & distance) != 0) {
      state_.send(rank() - distance, step, {words, count});
      return;
    }
    if (rank() + distance < size()) function(fold, state_.take(step).data());
  }
}

void team::down(std::uint32_t root, std::uint64_t* words, std::size_t count) {
  SHOAL_ASSERT(root < size(), "there is no such member to broadcast from");
  const std::uint32_t n = size();
  const std::uint32_t mine = (rank() + n - root) % n;  // the tree's numbering: its root is 0
  std::uint32_t distance = std::bit_ceil(n);
  if (mine != 0) {
    const auto got = state_.take(detail::k_down_step);
    std::copy(got.begin(), got.end(), words);
    distance = mine & (~mine + 1);  // the lowest bit gives the parent
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (mine + distance < n) state_.send((mine + distance + root) % n, detail::k_down_step, {words, count});
}

}  // namespace shoal
