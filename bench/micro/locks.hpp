// SPDX-License-Identifier: Apache-2.0
// `shoal bench locks`: threads that acquire one lock repeatedly. Each kind runs without a meter for its rate, and again
// with a meter for waiting times and bias factors.
// Who may call: the command's main thread; tests call measure_lock(). Test: tests/unit/bench/locks_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/subcommand.hpp"
#include "shoal/lock_meter.hpp"
#include "shoal/locks.hpp"

namespace shoal::bench {

struct lock_load {
  unsigned threads = 4;
  wait_kind wait = wait_kind::adaptive;
  unsigned inside = 1;            // cache lines written while the lock is held
  unsigned outside = 0;           // iterations of a pausing loop between two acquisitions
  unsigned low = 0;               // number of threads of the low-priority class
  std::optional<unsigned> bound;  // empty: the default of the kind
  double seconds = 0.25;
  std::vector<unsigned> packages;  // of each thread; shorter: repeated; empty: all threads in one package
  std::vector<unsigned> pus;       // the processor of each thread; shorter: repeated; empty: not pinned
};

struct lock_result {
  double ns_per_acquisition =
      0;  // without the meter: wall time by acquisitions, once all threads have had the lock (or half a second)
  std::uint64_t acquisitions = 0;
  bool correct = false;  // the guarded counts are correct, with the meter and without
  lock_report metered;
};

/// `kind`: those of make_lock(), and "bare": an exchange and a store, for one thread.
lock_result measure_lock(std::string_view kind, const lock_load& load);

/// The medians for one kind with one number of threads.
struct lock_row {
  std::string kind;
  unsigned threads = 0;
  double ns_per_acquisition = 0;
  double wait_p50_us = 0;
  double wait_p99_us = 0;
  double wait_max_us = 0;
  double bias_core = 0;
  double bias_package = 0;
};
/// SVG: rates, waiting times and biases side by side.
std::string locks_picture(const std::vector<lock_row>& rows, std::string_view wait);

subcommand_body declare_locks(CLI::App& app);

}  // namespace shoal::bench
