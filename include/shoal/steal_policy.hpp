// SPDX-License-Identifier: Apache-2.0
// Victim policies: from which worker an idle worker tries to steal. A policy is chosen by name at start (setting
// `steal`); a program adds its own with add_steal_policy() before it calls shoal::run.
// Who calls: a policy object is constructed at set-up, one per worker; it may allocate and throw there. Afterwards only
// its worker's thread calls it, between tasks: it must not wait, throw, allocate or lock.
// Guarantees: each next() is followed by tried() with the returned victim. Loads and results may be out of date, since
// other thieves steal at the same time. A worker parks only if the workers that its policy reaches have no tasks;
// otherwise the scheduler does not depend on the order of victims.
// Sources of the policies in Shoal: src/sched/steal/README.md. Tests: tests/unit/sched/steal_policy_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/random.hpp"

namespace shoal {

namespace sched {
class worker_map;
}

/// The closest level of hardware that two workers share: core, cache, memory, package, or only the machine.
enum class worker_distance : std::uint8_t { core, l2, l3, numa, package, machine };

enum class steal_result : std::uint8_t {
  won,    // a task or a half of a range
  lost,   // there was something, and another thread took it: try again
  empty,  // there was nothing to take
};

/// The information that a worker's policy may use. Outlives the policy.
class steal_view {
public:
  steal_view(const steal_view&) = delete;
  steal_view& operator=(const steal_view&) = delete;

  /// This worker's number; workers count from 0 within a node.
  unsigned self() const noexcept { return self_; }
  unsigned workers() const noexcept { return workers_; }

  /// Positions of workers are constant. If workers are not pinned and no topology is described: one package, all pairs
  /// at distance `machine`.
  worker_distance distance(unsigned victim) const noexcept;
  unsigned packages() const noexcept;
  /// Packages with workers are numbered from 0, in the order of their first workers.
  unsigned package(unsigned worker) const noexcept;
  unsigned first_in_package(unsigned package) const noexcept;

  /// The approximate number of tasks in the deque of `victim`; a range of a loop counts as one. Reads memory that the
  /// victim writes.
  virtual std::size_t load(unsigned victim) const noexcept = 0;
  /// Random and uniform in [0, bound), from this worker's own sequence; `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return random_.below(bound); }

protected:
  steal_view(unsigned self, const sched::worker_map& map, std::uint64_t seed) noexcept;
  ~steal_view() = default;

private:
  unsigned self_;
  unsigned workers_;
  const sched::worker_map& map_;
  xoshiro256ss random_;
};

/// The order in which one worker tries others. Aligned to cache lines, since each worker modifies its own object often.
class alignas(64) steal_policy {
public:
  virtual ~steal_policy() = default;

  /// The next victim: a worker other than view.self().
  virtual unsigned next() noexcept = 0;
  /// The result of the attempt.
  virtual void tried([[maybe_unused]] unsigned victim, [[maybe_unused]] steal_result result) noexcept {}

  /// The number of attempts without a task, at least 1, after which the worker polls for messages and, after some
  /// rounds, parks. Read once; 0: one attempt per other worker.
  virtual unsigned round() const noexcept { return 0; }
  /// Whether next() ever returns `victim`. A worker parks while only workers that it does not reach have tasks, and is
  /// not woken for them. next() must return each reached worker that has tasks within a bounded number of calls; if no
  /// worker is reached, it is not called. Read once.
  virtual bool reaches([[maybe_unused]] unsigned victim) const noexcept { return true; }
};

/// Makes the policy of the worker that `view` belongs to. `arguments`: the texts in parentheses after the name, for
/// instance {"50", "3"}. If they are not valid, throw an exception derived from std::exception with a message.
using steal_policy_maker =
    std::function<std::unique_ptr<steal_policy>(steal_view& view, const std::vector<std::string>& arguments)>;

/// Adds a policy for the setting `steal`, for all runs of this process. `name`: letters, digits and _; `help`: one line
/// with its syntax and meaning. Throws shoal::error if the name is in use. Any thread, outside of shoal::run. The
/// factory is also called once with a view of a single worker, to check the arguments before the start.
void add_steal_policy(const std::string& name, const std::string& help, steal_policy_maker make);

}  // namespace shoal
