// SPDX-License-Identifier: Apache-2.0
// How long a stress test goes on, and with which seeds. SHOAL_STRESS_SECONDS: how long each test runs (1).
// SHOAL_STRESS_SEED: the seed of a failed run, which every test prints; it fixes what the threads do, though not how they
// interleave.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include "shoal/random.hpp"

namespace shoal::stress {

/// The seed asked for, else one of chance.
inline std::uint64_t first_seed() {
  const char* given = std::getenv("SHOAL_STRESS_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

class deadline {
public:
  bool over() const { return clock::now() >= end_; }

private:
  using clock = std::chrono::steady_clock;
  static std::chrono::duration<double> length() {
    const char* seconds = std::getenv("SHOAL_STRESS_SECONDS");
    return std::chrono::duration<double>(seconds != nullptr ? std::strtod(seconds, nullptr) : 1.0);
  }
  clock::time_point end_ = clock::now() + std::chrono::duration_cast<clock::duration>(length());
};

/// Plays round(seed) with one seed after the other, at least once, until the time is over or one has failed.
template <class Round>
void play_rounds(const Round& round) {
  const deadline end;
  std::uint64_t seed = first_seed();
  std::uint64_t rounds = 0;
  do {
    std::cout << "SHOAL_STRESS_SEED=" << seed << std::endl;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, "SHOAL_STRESS_SEED=" + std::to_string(seed));
    round(seed);
    ++rounds;
    seed = splitmix64::at(seed, 1);
  } while (!end.over() && !::testing::Test::HasFailure());
  std::cout << rounds << " rounds\n";
}

}  // namespace shoal::stress
