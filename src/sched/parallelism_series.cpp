// SPDX-License-Identifier: Apache-2.0
#include "sched/parallelism_series.hpp"

#include <algorithm>

namespace shoal::sched {
namespace {

// Of an odd sum the half that remains goes to the even places, so that halving again and again does not drift.
void pair_up(std::vector<std::uint32_t>& values) {
  const std::size_t half = values.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const std::uint64_t sum = std::uint64_t{values[2 * i]} + values[2 * i + 1];
    values[i] = static_cast<std::uint32_t>((sum + (i % 2 == 0 ? 1 : 0)) / 2);
  }
  values.resize(half);
}

}  // namespace

parallelism_series::parallelism_series(double interval_seconds, std::size_t most)
    : interval_(interval_seconds), most_(std::max<std::size_t>(most / 2 * 2, 2)) {}

void parallelism_series::halve() {
  pair_up(running_);
  pair_up(offered_);
  interval_ *= 2;
}

void parallelism_series::add(double at_seconds, std::uint32_t running, std::uint32_t offered) {
  do {
    running_.push_back(running);
    offered_.push_back(offered);
    if (running_.size() == most_) halve();  // at once: the next value is due after an interval of the new length
  } while (seconds_to_next() <= at_seconds);
}

}  // namespace shoal::sched
