// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/limits/team.hpp"

#include <algorithm>

namespace shoal::bench::limits {

machine_seats choose_seats(const machine::topology& machine) {
  machine_seats result;
  machine::placement all = machine.choose(1, 0, std::min(machine.cores(), machine.usable_processors()));
  result.all = {all.pus, all.pin};
  result.one = {{all.pus.front()}, all.pin};
  machine::placement first = machine.choose(2, 0, 1);
  machine::placement second = machine.choose(2, 1, 1);
  result.pair = {{first.pus.front(), second.pus.front()}, first.pin};
  return result;
}

outcome run_team(const seats& where, const std::function<void(int, share&)>& body) {
  int threads = where.count();
  std::vector<share> shares(static_cast<std::size_t>(threads));
  std::atomic<int> arrived{0};  // each thread adds itself, all wait for the full count
  std::vector<std::thread> team;
  team.reserve(static_cast<std::size_t>(threads));
  for (int me = 0; me < threads; ++me) {
    team.emplace_back([&, me] {
      // A failure only makes the result less precise.
      if (where.pin) machine::pin_this_thread(where.processors[static_cast<std::size_t>(me)]);
      share& mine = shares[static_cast<std::size_t>(me)];
      arrived.fetch_add(1, std::memory_order_acq_rel);
      for (patience waiting; arrived.load(std::memory_order_acquire) < threads;) waiting.wait();
      mine.start_ns = base::now_ns();
      body(me, mine);
      mine.end_ns = base::now_ns();
    });
  }
  for (std::thread& thread : team) thread.join();
  outcome result;
  std::uint64_t first = shares[0].start_ns;
  std::uint64_t last = shares[0].end_ns;
  for (const share& one : shares) {
    first = std::min(first, one.start_ns);
    last = std::max(last, one.end_ns);
    result.operations += one.operations;
    result.sum += one.sum;
  }
  result.seconds = static_cast<double>(last - first) / 1e9;
  return result;
}

}  // namespace shoal::bench::limits
