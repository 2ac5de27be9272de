// SPDX-License-Identifier: Apache-2.0
// Threads on chosen processors that start together. The time runs from the first start to the last completion.
// body(me, share) does its work and sets share.operations (and share.sum, for checks).
// Who may call: one thread outside the runtime. Guarantees: starting and waiting yield (there may be fewer cores than
// threads). Test: tests/unit/bench/limits_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "machine/futex.hpp"
#include "machine/topology.hpp"

namespace shoal::bench::limits {

/// The result of one thread, in its own cache line.
struct alignas(64) share {
  std::uint64_t operations = 0;
  std::uint64_t sum = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

struct outcome {
  double seconds = 0;
  std::uint64_t operations = 0;
  std::uint64_t sum = 0;
  double mops() const { return static_cast<double>(operations) / seconds / 1e6; }
};

/// The processor of each thread of a team.
struct seats {
  std::vector<unsigned> processors;  // one for each thread
  bool pin = false;

  int count() const { return static_cast<int>(processors.size()); }
};

/// One thread; a thread on each core; two threads on the processors of two nodes of one worker each.
struct machine_seats {
  seats one;
  seats all;
  seats pair;
};
machine_seats choose_seats(const machine::topology& machine);

outcome run_team(const seats& where, const std::function<void(int, share&)>& body);

class deadline {
public:
  explicit deadline(double seconds) : end_ns_(base::now_ns() + static_cast<std::uint64_t>(seconds * 1e9)) {}
  bool passed() const { return base::now_ns() >= end_ns_; }

private:
  std::uint64_t end_ns_;
};

/// Spins for a while, then yields at each call. Call reset() after useful work.
class patience {
public:
  void wait() {
    if (++spins_ < k_spins)
      machine::pause();
    else
      std::this_thread::yield();
  }
  void reset() { spins_ = 0; }

private:
  static constexpr int k_spins = 256;
  int spins_ = 0;
};

}  // namespace shoal::bench::limits
