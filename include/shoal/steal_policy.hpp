// SPDX-License-Identifier: Apache-2.0
// Whom a worker without work tries to steal from. A policy is a small type, chosen by name at start (the setting
// `steal`); a program adds its own with add_steal_policy() before it calls shoal::run, and names it like any other.
// Who calls what: a policy is made at set-up, one for each worker, and may allocate and throw there. Its other
// functions are called by its worker's thread alone, between tasks: they may not wait, throw, allocate or lock.
// Guarantees: tried() follows each next(), with the victim it gave. Loads and results are out of date when they are
// read: other thieves are at work. Nothing else of the scheduler depends on the order of victims, but that a worker
// sleeps only when those that it reaches have nothing.
// Source of the policies that come with Shoal: src/sched/steal/README.md. Shown by
// tests/unit/sched/steal_policy_test.cpp.
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

/// The nearest thing that two workers have in common: a core, a cache, memory, a package, or nothing but the machine.
enum class worker_distance : std::uint8_t { core, l2, l3, numa, package, machine };

enum class steal_result : std::uint8_t {
  won,    // a task or a half of a range
  lost,   // there was something, and another thread took it: trying again is worth while
  empty,  // there was nothing to take
};

/// What the policy of one worker may look at. Outlives the policy.
class steal_view {
public:
  steal_view(const steal_view&) = delete;
  steal_view& operator=(const steal_view&) = delete;

  /// This worker's number; workers count from 0 within a node.
  unsigned self() const noexcept { return self_; }
  unsigned workers() const noexcept { return workers_; }

  /// Where workers are does not change. Not pinned and without a description: one package, all pairs at `machine`.
  worker_distance distance(unsigned victim) const noexcept;
  unsigned packages() const noexcept;
  /// Packages that hold workers count from 0, in the order of their first workers.
  unsigned package(unsigned worker) const noexcept;
  unsigned first_in_package(unsigned package) const noexcept;

  /// About how many tasks wait in its deque; a range of a loop counts as one. Reads memory that its owner writes.
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

/// The order in which one worker tries others. Lines of their own, since neighbours change theirs all the time.
class alignas(64) steal_policy {
public:
  virtual ~steal_policy() = default;

  /// Whom to try now: a worker other than view.self().
  virtual unsigned next() noexcept = 0;
  /// How that went.
  virtual void tried([[maybe_unused]] unsigned victim, [[maybe_unused]] steal_result result) noexcept {}

  /// How many attempts that found nothing it takes, at least 1, before the worker looks elsewhere: at its messages, and
  /// after some rounds for a place to sleep. Read once; 0: one for each other worker.
  virtual unsigned round() const noexcept { return 0; }
  /// Whether next() ever gives `victim`. A worker sleeps while only others have work, and is not woken for theirs.
  /// next() must come to each that it reaches and that has work within a bounded number of calls; it is not called
  /// where there is none. Read once.
  virtual bool reaches([[maybe_unused]] unsigned victim) const noexcept { return true; }
};

/// Makes the policy of the worker that `view` belongs to. `arguments`: what stood in parentheses behind the name, for
/// instance {"50", "3"}; throw what derives from std::exception, with a sentence, if they are not acceptable.
using steal_policy_maker =
    std::function<std::unique_ptr<steal_policy>(steal_view& view, const std::vector<std::string>& arguments)>;

/// Adds a policy that `steal` may name, for all runs of this process. `name`: letters, digits and _; `help`: how it is
/// written and what it does, in a line. Throws shoal::error where the name is taken. Any thread, outside of shoal::run.
/// The maker is also called once with a view of a single worker, to check the arguments before anything starts.
void add_steal_policy(const std::string& name, const std::string& help, steal_policy_maker make);

}  // namespace shoal
