// SPDX-License-Identifier: Apache-2.0
// A stateless model checker for lock-free code: runs a scenario repeatedly, each time with other decisions about which
// thread continues and which store a load sees, until one execution fails or the search ends.
//   explore(scenario, randomly(n))        n executions drawn from seeds; SHOAL_MODEL_SEED=s begins with s
//   explore(scenario, systematically(p))  all executions with at most p preemptions
// A failure is reported with its reason, its seed, and the trace of its steps, recorded by repeating the same
// decisions. try_mutants() tries the mutants of one file: each operation in it with each weaker order. Modelled on
// Relacy; memory.hpp lists what the memory simulates and what it does not. Test: tests/model/explorer_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/explorer/execution.hpp"
#include "model/explorer/model_atomics.hpp"
#include "model/explorer/orders.hpp"

namespace shoal::model {

using scenario = std::function<void(execution&)>;

struct search {
  bool random;
  std::uint64_t executions;  // the maximum
  unsigned preemptions;      // systematic only
  unsigned steps = 2000;     // per execution; more counts as an endless run
};

// A sanitizer makes the explorer 40 to 150 times slower, and it checks the explorer itself, not the simulated memory.
#if SHOAL_ASAN || SHOAL_TSAN
inline constexpr std::uint64_t k_one_in = 40;
#else
inline constexpr std::uint64_t k_one_in = 1;
#endif

inline search randomly(std::uint64_t executions) {
  return {.random = true, .executions = executions / k_one_in, .preemptions = 0};
}
inline search systematically(unsigned preemptions, std::uint64_t executions = 5'000'000) {
  return {.random = false, .executions = executions, .preemptions = preemptions};
}

struct outcome {
  bool failed = false;
  bool complete = false;  // a systematic search that has ended
  std::uint64_t executions = 0;
  std::string reason;
  std::string trace;
};
inline std::ostream& operator<<(std::ostream& out, const outcome& o) {
  return out << o.executions << " executions, " << (o.failed ? "failed: " + o.reason + "\n" + o.trace : "no failure");
}

inline outcome explore(const scenario& what, const search& how, order_book& orders) {
  const char* given = std::getenv("SHOAL_MODEL_SEED");
  const std::uint64_t first_seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
  decisions choices = how.random ? decisions(first_seed) : decisions();
  execution run(choices, orders, how.preemptions, how.steps);
  outcome found;
  for (;;) {
    const std::uint64_t seed = first_seed + found.executions++;
    if (!run.run(what, false)) {
      found.failed = true;
      choices.rewind();
      run.run(what, true);
      found.reason = run.reason();
      found.trace = run.trace();
      if (how.random) found.reason += fmt::format("; SHOAL_MODEL_SEED={} finds it at once", seed);
      return found;
    }
    if (found.executions == how.executions) return found;
    if (how.random) {
      choices.reseed(seed + 1);
    } else if (!choices.next_path()) {
      found.complete = true;
      return found;
    }
  }
}

inline outcome explore(const scenario& what, const search& how) {
  order_book as_written;
  return explore(what, how, as_written);
}

inline outcome explore(const scenario& what, const search& how, const mutation& mutant) {
  order_book orders;
  orders.mutate(mutant);
  return explore(what, how, orders);
}

// The mutants of `file`: each operation in it that a scenario reaches, with each weaker order.
inline std::vector<mutation> weakenings(const std::vector<scenario>& scenarios, const std::string& file) {
  order_book orders;
  orders.record(file);
  for (const scenario& each : scenarios) explore(each, randomly(2000), orders);
  std::vector<mutation> mutants;
  for (const site& s : orders.sites())
    for (const std::memory_order weaker : s.weaker()) mutants.push_back({s, weaker});
  return mutants;
}

struct mutant_report {
  std::size_t tried = 0;
  std::vector<std::string>
      alive;  // sorted names of surviving mutants: their orders are stronger than the scenarios need
};

inline mutant_report try_mutants(const std::vector<scenario>& scenarios, const std::string& file, const search& how) {
  mutant_report report;
  for (const mutation& mutant : weakenings(scenarios, file)) {
    ++report.tried;
    const auto kills = [&](const scenario& each) { return explore(each, how, mutant).failed; };
    if (std::none_of(scenarios.begin(), scenarios.end(), kills)) report.alive.push_back(mutant.name());
  }
  std::sort(report.alive.begin(), report.alive.end());
  return report;
}

}  // namespace shoal::model
