// SPDX-License-Identifier: Apache-2.0
// From what recorders hold to times: timed operations stand for all of their kind.
#include <algorithm>
#include <utility>

#include "sched/profiler.hpp"

namespace shoal::sched {
namespace {

static_assert(k_worker_distances == static_cast<std::size_t>(worker_distance::machine) + 1);

template <class To, class From>
void subtract(To& from, const From& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= what[i];
}

recorder_reading difference(recorder_reading to, const recorder_reading& from) {
  subtract(to.ticks, from.ticks);
  subtract(to.count, from.count);
  subtract(to.timed, from.timed);
  subtract(to.sum, from.sum);
  subtract(to.once, from.once);
  for (std::size_t d = 0; d < k_worker_distances; ++d) {
    to.attempts[d].won -= from.attempts[d].won;
    to.attempts[d].lost -= from.attempts[d].lost;
    to.attempts[d].empty -= from.attempts[d].empty;
  }
  to.begun -= from.begun;
  to.unspawned -= from.unspawned;
  to.left -= from.left;
  to.served -= from.served;
  to.rounds -= from.rounds;
  to.parks -= from.parks;
  to.idle_polls -= from.idle_polls;
  to.idle_spawned -= from.idle_spawned;
  return to;
}

// Ticks of one operation; of a worker that has timed few, what all workers found.
class means {
public:
  explicit means(const std::vector<recorder_reading>& workers) {
    for (const recorder_reading& w : workers)
      for (std::size_t op = 0; op < k_profile_operations; ++op) {
        timed_[op] += w.timed[op];
        sum_[op] += w.sum[op];
      }
  }
  double of(const recorder_reading& w, profile_operation operation) const {
    constexpr std::uint64_t k_enough = 16;
    const auto op = static_cast<std::size_t>(operation);
    const bool own = w.timed[op] >= k_enough;
    const std::uint64_t timed = own ? w.timed[op] : timed_[op];
    return timed == 0 ? 0 : std::max(0.0, static_cast<double>(own ? w.sum[op] : sum_[op]) / static_cast<double>(timed));
  }

private:
  std::array<std::uint64_t, k_profile_operations> timed_{};
  std::array<std::int64_t, k_profile_operations> sum_{};
};

// A worker that moved on while it was read has a little less than nothing in its newest state, and as much too much in
// those before: that is taken off where most is.
std::array<std::int64_t, k_profile_states> settled(std::array<std::int64_t, k_profile_states> ticks) {
  for (std::int64_t& below : ticks)
    if (below < 0) *std::ranges::max_element(ticks) += std::exchange(below, 0);
  return ticks;
}

profile_worker times_of(const recorder_reading& w, const means& all, double seconds_per_tick) {
  using operation = profile_operation;
  using state = profile_state;
  const auto count = [&](operation op) { return w.count[static_cast<std::size_t>(op)]; };
  const auto spent = settled(w.ticks);
  const auto ticks = [&](state s) { return std::max(0.0, static_cast<double>(spent[static_cast<std::size_t>(s)])); };
  // Of the operations between and within tasks, while it was busy.
  const auto estimate = [&](operation op, std::uint64_t elsewhere = 0) {
    const std::uint64_t n = count(op);
    const auto once = static_cast<double>(w.once[static_cast<std::size_t>(op)]);
    return std::max(0.0, static_cast<double>(n - std::min(n, elsewhere)) * all.of(w, op) + once);
  };
  double spawn = estimate(operation::spawn, w.idle_spawned);
  double get = estimate(operation::get);
  double resume = estimate(operation::resume);
  double steal = estimate(operation::steal);
  double look = estimate(operation::look);
  double messages = estimate(operation::messages) + estimate(operation::serve);
  double ring = estimate(operation::ring);

  // Estimates of very few may come out larger than all there is.
  const double parts = spawn + get + resume + steal + look + messages + ring;
  const double busy = ticks(state::busy);
  if (parts > busy)
    for (double* part : {&spawn, &get, &resume, &steal, &look, &messages, &ring}) *part *= busy / parts;

  const auto entry = [&](std::uint64_t n, double t) { return profile_entry{n, t * seconds_per_tick}; };
  profile_worker made;
  made.work_seconds = std::max(0.0, busy - parts) * seconds_per_tick;
  made.spawn = entry(count(operation::spawn), spawn);
  made.get = entry(count(operation::get), get + ticks(state::get));
  made.resume = entry(count(operation::resume), resume);
  made.steal = entry(count(operation::steal), steal + ticks(state::steal));
  made.messages =
      entry(count(operation::messages) + count(operation::serve) + w.idle_polls, messages + ticks(state::messages));
  made.ring = entry(count(operation::ring), ring);
  made.look = entry(count(operation::look) + w.rounds, look + ticks(state::look));
  made.spin = entry(w.rounds, ticks(state::spin));
  made.park = entry(w.parks, ticks(state::park));
  std::copy(w.attempts.begin(), w.attempts.end(), made.attempts.begin());
  made.begun = w.begun - std::min(w.begun, w.unspawned);
  made.left = w.left;
  made.served = w.served;
  return made;
}

}  // namespace

profile profile_between(const pool_reading& from, const pool_reading& to, double ticks_per_second) {
  profile made;
  made.wall_seconds = static_cast<double>(to.ticks - from.ticks) / ticks_per_second;
  std::vector<recorder_reading> passed;
  for (std::size_t i = 0; i < to.workers.size(); ++i) passed.push_back(difference(to.workers[i], from.workers[i]));
  const means all(passed);
  for (const recorder_reading& w : passed) made.workers.push_back(times_of(w, all, 1 / ticks_per_second));
  return made;
}

}  // namespace shoal::sched
