// SPDX-License-Identifier: Apache-2.0
// The threads of `shoal bench locks`, compiled separately for each kind and wait policy, so that no virtual call is
// measured.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "bench/micro/locks.hpp"
#include "machine/topology.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t k_patience_ns = 500'000'000;  // time limit until all threads have acquired the lock once

// A lower bound for the cost of an uncontended lock.
class bare_lock {
public:
  void lock(unsigned) {
    while (held_.exchange(1, std::memory_order_acquire) != 0) detail::lock_yield();
  }
  void unlock() { held_.store(0, std::memory_order_release); }

private:
  std::atomic<std::uint32_t> held_{0};
};

// The package that this thread simulates, for hierarchical locks.
thread_local unsigned t_package = 0;

struct alignas(64) guarded_line {
  std::uint64_t count = 0;
};

struct alignas(64) seat {
  std::atomic<std::uint64_t> acquisitions{0};  // partner: the sampling thread; orders nothing
};

struct one_run {
  std::uint64_t acquisitions = 0;
  double ns_per_acquisition = 0;
  bool correct = false;
};

std::uint64_t sum(const std::vector<seat>& seats) {
  std::uint64_t all = 0;
  for (const seat& s : seats) all += s.acquisitions.load(std::memory_order_relaxed);
  return all;
}

template <class Lock, class Unlock>
one_run run(const lock_load& load, const std::vector<unsigned>& packages, const Lock& lock, const Unlock& unlock) {
  std::vector<guarded_line> lines(std::max(load.inside, 1U));
  std::vector<seat> seats(load.threads);
  std::atomic<bool> stop{false};
  std::latch all_here(static_cast<std::ptrdiff_t>(load.threads) + 1);
  std::vector<std::thread> threads;
  const auto body = [&](unsigned t) {
    t_package = packages[t];
    if (!load.pus.empty()) machine::pin_this_thread(load.pus[t % load.pus.size()]);
    const unsigned cls = t < load.low ? 1 : 0;
    const unsigned inside = static_cast<unsigned>(lines.size());
    std::uint64_t mine = 0;
    all_here.arrive_and_wait();
    while (!stop.load(std::memory_order_relaxed)) {
      lock(t, cls);
      for (unsigned i = 0; i < inside; ++i) ++lines[i].count;
      unlock(t);
      seats[t].acquisitions.store(++mine, std::memory_order_relaxed);
      for (unsigned i = 0; i < load.outside; ++i) detail::lock_pause();
    }
  };
  try {
    for (unsigned t = 0; t < load.threads; ++t) threads.emplace_back(body, t);
  } catch (const std::system_error& e) {
    stop.store(true, std::memory_order_relaxed);
    all_here.count_down(static_cast<std::ptrdiff_t>(load.threads - threads.size()) + 1);
    for (std::thread& t : threads) t.join();
    throw error(errc::system, fmt::format("thread {} of {} could not be started: {}; use fewer with --threads",
                                          threads.size() + 1, load.threads, e.code().message()));
  }
  all_here.arrive_and_wait();
  // Counting starts when all threads have acquired the lock once, because a thread that starts early would distort the
  // rate. A class that starves never acquires it, so there is a time limit.
  const std::uint64_t patience_ns = base::now_ns() + k_patience_ns;
  for (const seat& s : seats)
    while (s.acquisitions.load(std::memory_order_relaxed) == 0 && base::now_ns() < patience_ns)
      std::this_thread::sleep_for(100us);
  const std::uint64_t begin_ns = base::now_ns();
  const std::uint64_t begin = sum(seats);
  std::this_thread::sleep_for(std::chrono::duration<double>(load.seconds));
  const std::uint64_t elapsed_ns = base::now_ns() - begin_ns;
  const std::uint64_t counted = sum(seats) - begin;
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& t : threads) t.join();
  one_run r;
  r.acquisitions = sum(seats);
  r.ns_per_acquisition = static_cast<double>(elapsed_ns) / static_cast<double>(std::max<std::uint64_t>(counted, 1));
  r.correct = std::all_of(lines.begin(), lines.end(), [&](const guarded_line& l) { return l.count == r.acquisitions; });
  return r;
}

template <class Lock, class... Options>
lock_result measure(const lock_load& load, const Options&... options) {
  std::vector<unsigned> packages(load.threads, 0);
  for (unsigned t = 0; t < load.threads && !load.packages.empty(); ++t)
    packages[t] = load.packages[t % load.packages.size()];
  lock_result result;
  {
    const auto lock = std::make_unique<Lock>(options...);
    const one_run bare = run(
        load, packages, [&](unsigned, unsigned cls) { lock->lock(cls); }, [&](unsigned) { lock->unlock(); });
    result.acquisitions = bare.acquisitions;
    result.ns_per_acquisition = bare.ns_per_acquisition;
    result.correct = bare.correct && bare.acquisitions != 0;
  }
  const auto lock = std::make_unique<Lock>(options...);
  lock_meter meter(packages);
  measured_lock measured(*lock, meter);
  const one_run metered = run(
      load, packages, [&](unsigned t, unsigned cls) { measured.lock(t, cls); },
      [&](unsigned t) { measured.unlock(t); });
  result.metered = meter.report();
  result.correct = result.correct && metered.correct && result.metered.acquisitions == metered.acquisitions;
  return result;
}

package_map played_packages(const lock_load& load) {
  unsigned count = 1;
  for (const unsigned p : load.packages) count = std::max(count, p + 1);
  return {count, [] { return t_package; }};
}

template <wait_kind Wait>
lock_result measure_waiting(std::string_view kind, const lock_load& load) {
  using wait = thread_wait<Wait>;
  if (kind == "bare") return measure<bare_lock>(load);
  if (kind == "mutex") return measure<mutex_lock>(load);
  if (kind == "tas") return measure<tas_lock<wait>>(load);
  if (kind == "ticket") return measure<ticket_lock<wait>>(load);
  if (kind == "priority") return measure<priority_lock<wait>>(load);
  if (kind == "mcs") return measure<mcs_lock<wait>>(load);
  if (kind == "clh") return measure<clh_lock<wait>>(load);
  if (kind == "hierarchical")
    return measure<hierarchical_lock<wait>>(load, played_packages(load),
                                            load.bound.value_or(hierarchical_lock<wait>::k_bound));
  if (kind == "bounded") return measure<bounded_lock<wait>>(load, load.bound.value_or(bounded_lock<wait>::k_bound));
  if (kind == "message") return measure<message_lock<wait>>(load, load.bound.value_or(message_lock<wait>::k_bound));
  make_lock(kind);  // the error lists the kinds
  throw error(errc::internal, fmt::format("the benchmark does not know locks of kind '{}'", kind));
}

}  // namespace

lock_result measure_lock(std::string_view kind, const lock_load& load) {
  switch (load.wait) {
    case wait_kind::spin: return measure_waiting<wait_kind::spin>(kind, load);
    case wait_kind::yield: return measure_waiting<wait_kind::yield>(kind, load);
    case wait_kind::park: return measure_waiting<wait_kind::park>(kind, load);
    case wait_kind::adaptive: break;
  }
  return measure_waiting<wait_kind::adaptive>(kind, load);
}

}  // namespace shoal::bench
