// SPDX-License-Identifier: Apache-2.0
#include "shoal/profile_result.hpp"

namespace shoal {
namespace {

void add(profile_entry& to, const profile_entry& more) {
  to.count += more.count;
  to.seconds += more.seconds;
}

}  // namespace

double profile_worker::scheduling_seconds() const noexcept {
  return spawn.seconds + get.seconds + resume.seconds + steal.seconds + messages.seconds + ring.seconds;
}

double profile_worker::idle_seconds() const noexcept { return look.seconds + spin.seconds + park.seconds; }

profile_worker profile::total() const noexcept {
  profile_worker sum;
  for (const profile_worker& w : workers) {
    sum.work_seconds += w.work_seconds;
    add(sum.spawn, w.spawn);
    add(sum.get, w.get);
    add(sum.resume, w.resume);
    add(sum.steal, w.steal);
    add(sum.messages, w.messages);
    add(sum.ring, w.ring);
    add(sum.look, w.look);
    add(sum.spin, w.spin);
    add(sum.park, w.park);
    for (std::size_t d = 0; d < sum.attempts.size(); ++d) {
      sum.attempts[d].won += w.attempts[d].won;
      sum.attempts[d].lost += w.attempts[d].lost;
      sum.attempts[d].empty += w.attempts[d].empty;
    }
    sum.begun += w.begun;
    sum.left += w.left;
    sum.served += w.served;
  }
  return sum;
}

std::optional<double> profile::inflation_seconds() const noexcept {
  if (!serial_seconds) return std::nullopt;
  return total().work_seconds - *serial_seconds;
}

}  // namespace shoal
