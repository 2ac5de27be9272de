// SPDX-License-Identifier: Apache-2.0
#include "bench/busy_loops.hpp"

#include <fmt/format.h>

#include <system_error>

#include "shoal/error.hpp"

namespace shoal::bench {

busy_loops::busy_loops(unsigned count) : rounds_(std::make_unique<counter[]>(count)) {
  threads_.reserve(count);
  try {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this, &rounds = rounds_[i].value] {
        for (std::uint64_t round = 1; !ended_.load(std::memory_order_relaxed); ++round)
          rounds.store(round, std::memory_order_relaxed);
      });
  } catch (const std::system_error& refused) {
    end();
    throw error(errc::system, fmt::format("the system refuses a thread for --load ({}); ask for fewer loops",
                                          refused.code().message()));
  }
  for (unsigned i = 0; i < count; ++i)
    while (rounds(i) == 0) std::this_thread::yield();
}

busy_loops::~busy_loops() { end(); }

void busy_loops::end() noexcept {
  ended_.store(true, std::memory_order_relaxed);
  for (std::thread& one : threads_) one.join();
}

}  // namespace shoal::bench
