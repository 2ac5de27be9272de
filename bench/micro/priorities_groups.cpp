// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/priorities_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "machine/thread_id.hpp"
#include "machine/topology.hpp"
#include "runtime/config.hpp"
#include "runtime/submissions.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/submission.hpp"
#include "shoal/error.hpp"
#include "shoal/priority.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

// Not an amount of time: a thread that waits for its processor must not be taken for one that computes.
std::uint64_t value_of(std::uint64_t item, std::uint64_t rounds) noexcept {
  for (std::uint64_t i = 0; i < rounds; ++i) item = mix64(item + i);
  return item;
}

std::uint64_t rounds_within(double us) {
  constexpr std::uint64_t k_tried = 200'000;
  std::uint64_t least_ns = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t begin = base::now_ns();
    [[maybe_unused]] const volatile std::uint64_t kept = value_of(begin, k_tried);
    least_ns = std::min(least_ns, base::now_ns() - begin);
  }
  const double per_us = static_cast<double>(k_tried) * 1e3 / static_cast<double>(std::max(least_ns, std::uint64_t{1}));
  return std::max(static_cast<std::uint64_t>(per_us * us), std::uint64_t{1});
}

std::vector<unsigned> processors_of(const groups_request& r) {
  return machine::topology::discover().choose(1, 0, r.processors).pus;
}

// Of each group, if items have numbers: an item's value is the same whichever group has it.
std::vector<std::uint64_t> first_items(const std::vector<unsigned>& tasks) {
  std::vector<std::uint64_t> first;
  std::uint64_t next = 0;
  for (const unsigned n : tasks) {
    first.push_back(next);
    next += n;
  }
  return first;
}

struct team_of_workers {
  explicit team_of_workers(unsigned workers) : threads(workers) {}
  // Throws if the system refuses threads or memory.
  void begin(const sched::pool_options& options) {
    pool.emplace(options);
    pool->start();
    tasks.emplace(*pool, "the measurement has ended");
  }
  std::vector<std::uint32_t> threads;  // by worker: the kernel's numbers
  std::atomic<unsigned> known{0};      // how many; partners: the workers, the first task
  std::optional<sched::pool> pool;
  std::optional<runtime::submissions> tasks;
};

class groups_run {
public:
  groups_run(const groups_request& r, treatment how, const groups_work& work)
      : r_(r),
        how_(how),
        work_(work),
        pus_(processors_of(r)),
        tasks_(tasks_of(r, how == treatment::even)),
        first_item_(first_items(tasks_)),
        homes_(deal_processors(std::vector<double>(r.groups, 1), r.processors, r.workers)),
        computes_(r.groups, true),
        computing_ns_(r.groups),
        used_ns_(r.groups),
        sums_(r.steps),
        most_pu_(*std::max_element(pus_.begin(), pus_.end())),
        used_(std::size_t{r.groups} * (most_pu_ + 2)),
        ready_(r.groups) {
    for (unsigned s = 0; s < r.steps; ++s) over_.emplace_back(r.groups);
    for (unsigned s = 0; s <= r.steps; ++s) begun_.emplace_back(r.groups);
  }

  groups_result measure() {
    const bool one_pool = how_ == treatment::high;
    for (unsigned t = 0; t < (one_pool ? 1 : r_.groups); ++t)
      teams_.emplace_back(one_pool ? r_.processors : r_.workers);
    for (unsigned t = 0; t < teams_.size(); ++t) teams_[t].begin(options(t));
    std::vector<std::future<void>> ends;
    for (unsigned t = 0; t < teams_.size(); ++t) {
      auto [task, end] = detail::make_submission([this, t, one_pool] { return one_pool ? drive_all() : drive(t); });
      teams_[t].tasks->begin(std::move(task));
      ends.push_back(std::move(end));
    }
    for (team_of_workers& t : teams_) t.tasks->close();
    for (std::future<void>& end : ends) end.get();
    if (thrown_) std::rethrow_exception(thrown_);
    return result();
  }

private:
  sched::pool_options options(unsigned t) {
    const runtime::config c = runtime::read_config(runtime::all_settings());
    sched::pool_options o = runtime::scheduler_options(c);
    o.workers = static_cast<unsigned>(teams_[t].threads.size());
    o.around_thread = [this, t, before = o.around_thread](unsigned worker) {
      if (how_ == treatment::nice && t != 0 && !machine::set_nice_value(std::min(machine::nice_value() + r_.nice, 19)))
        granted_.store(false, std::memory_order_relaxed);
      teams_[t].threads[worker] = machine::thread_id();
      teams_[t].known.fetch_add(1, std::memory_order_release);
      return before ? before(worker) : nullptr;
    };
    return o;
  }

  void drive_all() {
    task_group drivers;
    for (unsigned g = 0; g < r_.groups; ++g)
      drivers.run(g == 0 ? priority::high : priority::normal, [this, g] { drive(g); });
    drivers.wait();
  }

  // A group's own task.
  void drive(unsigned g) {
    const team_of_workers& own = teams_[teams_.size() == 1 ? 0 : g];
    while (own.known.load(std::memory_order_acquire) < own.threads.size()) yield();
    ready_.arrive_and_wait();
    if (g == 0) place_at_first();
    begun_[0].arrive_and_wait();
    if (g == 0) begin_ns_ = base::now_ns();
    for (unsigned s = 0; s < r_.steps; ++s) {
      const std::uint64_t begin = base::now_ns();
      try {
        compute(g, s);
      } catch (...) {  // no memory; the others must not wait for ever
        const std::lock_guard hold(assigning_);
        thrown_ = std::current_exception();
      }
      computing_ns_[g] += base::now_ns() - begin;
      if (how_ == treatment::lent) lend(g);
      over_[s].arrive_and_wait();
      if (g == 0) after_step(s + 1 == r_.steps);
      begun_[s + 1].arrive_and_wait();
    }
  }

  void compute(unsigned g, unsigned s) {
    const priority p = how_ == treatment::high && g == 0 ? priority::high : priority::normal;
    task_group group;
    for (unsigned i = 0; i < tasks_[g]; ++i)
      group.run(p, [this, g, s, i] {
        const bool is_timed = how_ == treatment::moved;
        const std::uint64_t begin = is_timed ? base::thread_processor_ns() : 0;
        sums_[s].fetch_add(value_of(first_item_[g] + i, work_.rounds), std::memory_order_relaxed);
        if (is_timed) used_ns_[g].fetch_add(base::thread_processor_ns() - begin, std::memory_order_relaxed);
        std::atomic<bool>& used = used_by(g, std::min(machine::current_processor(), most_pu_ + 1));
        if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
      });
    group.wait();
  }

  // Its last place: all other processors.
  std::atomic<bool>& used_by(unsigned g, unsigned pu) noexcept { return used_[std::size_t{g} * (most_pu_ + 2) + pu]; }

  void pin(std::uint32_t thread, std::span<const unsigned> pus) noexcept {
    if (!machine::pin_thread(thread, pus)) granted_.store(false, std::memory_order_relaxed);
  }

  void place_at_first() {
    if (how_ == treatment::shared || how_ == treatment::nice) {
      for (const team_of_workers& t : teams_)
        for (const std::uint32_t thread : t.threads) pin(thread, pus_);
    } else if (how_ == treatment::high) {
      for (unsigned w = 0; w < r_.processors; ++w) pin(teams_[0].threads[w], std::span(pus_).subspan(w, 1));
    } else {
      assign(homes_);
      moved_ = 0;
    }
  }

  // Each worker is pinned to one processor: it moves at once, whereas the kernel takes its time to use a larger set.
  void assign(const allotment& wanted) {
    now_.resize(r_.groups);
    for (unsigned g = 0; g < r_.groups; ++g) {
      const std::vector<unsigned>& from = now_[g];
      const std::vector<unsigned>& to = wanted[g];
      for (unsigned w = 0; w < r_.workers; ++w) {
        const unsigned at = to[w % to.size()];
        if (!from.empty() && from[w % from.size()] == at) continue;
        pin(teams_[g].threads[w], std::span(pus_).subspan(at, 1));
        ++moved_;
      }
    }
    now_ = wanted;
  }

  void lend(unsigned g) {
    const std::lock_guard hold(assigning_);  // some system calls long
    computes_[g] = false;
    if (std::find(computes_.begin(), computes_.end(), true) != computes_.end())
      assign(lend_processors(homes_, computes_, r_.workers));
  }

  // By the first group, while the others wait.
  void after_step(bool last) {
    if (last) {
      end_ns_ = base::now_ns();
    } else if (how_ == treatment::lent) {
      const std::lock_guard hold(assigning_);
      computes_.assign(r_.groups, true);
      assign(homes_);
    } else if (how_ == treatment::moved) {
      std::vector<double> work;
      for (unsigned g = 0; g < r_.groups; ++g)
        work.push_back(static_cast<double>(used_ns_[g].load(std::memory_order_relaxed)));
      assign(deal_processors(work, r_.processors, r_.workers));
    }
  }

  groups_result result() {
    groups_result all;
    const double steps = r_.steps;
    all.seconds = static_cast<double>(end_ns_ - begin_ns_) * 1e-9 / steps;
    all.first_seconds = static_cast<double>(computing_ns_[0]) * 1e-9 / steps;
    const std::uint64_t others = std::accumulate(computing_ns_.begin() + 1, computing_ns_.end(), std::uint64_t{0});
    if (r_.groups > 1) all.others_seconds = static_cast<double>(others) * 1e-9 / steps / (r_.groups - 1);
    all.moved = static_cast<double>(moved_) / steps;
    for (unsigned s = 0; s < r_.steps; ++s) all.sums.push_back(sums_[s].load(std::memory_order_relaxed));
    all.granted = granted_.load(std::memory_order_relaxed);
    const bool keeps_home = how_ == treatment::even || how_ == treatment::untreated;
    for (unsigned g = 0; g < r_.groups; ++g)
      for (unsigned pu = 0; pu < most_pu_ + 2; ++pu) {
        if (!used_by(g, pu).load(std::memory_order_relaxed)) continue;
        if (g == 0) ++all.of_first;
        const auto at = std::ranges::find(pus_, pu);
        const auto number = static_cast<unsigned>(at - pus_.begin());
        const bool is_home = at != pus_.end() && std::ranges::find(homes_[g], number) != homes_[g].end();
        all.stayed = all.stayed && (is_home || !keeps_home);
      }
    return all;
  }

  const groups_request& r_;
  const treatment how_;
  const groups_work& work_;
  const std::vector<unsigned> pus_;
  const std::vector<unsigned> tasks_;
  const std::vector<std::uint64_t> first_item_;  // by group
  const allotment homes_;
  std::mutex assigning_;
  allotment now_;                                    // guarded by assigning_ where groups end at the same time
  std::vector<bool> computes_;                       // the same
  std::exception_ptr thrown_;                        // the same
  std::uint64_t moved_ = 0;                          // the same
  std::vector<std::uint64_t> computing_ns_;          // each group its own
  std::vector<std::atomic<std::uint64_t>> used_ns_;  // partners: the tasks; after_step()
  std::vector<std::atomic<std::uint64_t>> sums_;     // partners: the tasks; result()
  const unsigned most_pu_;
  std::vector<std::atomic<bool>> used_;  // partners: the tasks; result()
  std::atomic<bool> granted_{true};      // partners: workers; result()
  latch ready_;
  std::deque<latch> begun_;
  std::deque<latch> over_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::deque<team_of_workers> teams_;
};

}  // namespace

allotment deal_processors(std::span<const double> work, unsigned processors, unsigned workers) {
  const std::size_t groups = work.size();
  allotment sets(groups);
  if (groups > processors) {  // the group with most work first, each to the processor with the least so far
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
    std::vector<double> load(processors, 0);
    for (const std::size_t g : order) {
      const auto least = std::ranges::min_element(load);
      *least += work[g];
      sets[g].push_back(static_cast<unsigned>(least - load.begin()));
    }
    return sets;
  }
  std::vector<unsigned> sizes(groups, 1);
  for (auto left = static_cast<unsigned>(processors - groups); left > 0; --left) {
    std::size_t next = groups;
    for (std::size_t g = 0; g < groups; ++g)
      if (sizes[g] < workers && (next == groups || work[g] / sizes[g] > work[next] / sizes[next])) next = g;
    if (next == groups) break;
    ++sizes[next];
  }
  unsigned first = 0;
  for (std::size_t g = 0; g < groups; ++g)
    for (unsigned i = 0; i < sizes[g]; ++i) sets[g].push_back(first++);
  return sets;
}

allotment lend_processors(const allotment& homes, const std::vector<bool>& computes, unsigned workers) {
  std::vector<bool> free;  // of those that have a home; others are unused
  for (const bool active : {false, true})
    for (std::size_t g = 0; g < homes.size(); ++g)
      for (const unsigned p : homes[g]) {
        if (p >= free.size()) free.resize(p + 1, false);
        if (computes[g] == active) free[p] = !active;
      }
  allotment sets = homes;
  for (unsigned p = 0; p < free.size(); ++p) {
    if (!free[p]) continue;
    std::size_t to = homes.size();
    for (std::size_t g = 0; g < homes.size(); ++g)
      if (computes[g] && sets[g].size() < workers && (to == homes.size() || sets[g].size() < sets[to].size())) to = g;
    if (to != homes.size()) sets[to].push_back(p);
  }
  return sets;
}

groups_request completed(groups_request r) {
  const machine::topology here = machine::topology::discover();
  const auto there = static_cast<unsigned>(here.processors().size());
  if (r.processors > there)
    throw error(errc::invalid_argument,
                fmt::format("--processors {}: this process may use {} only", r.processors, there));
  if (r.processors == 0) r.processors = here.usable_processors();
  if (r.workers == 0) r.workers = r.processors;
  return r;
}

std::vector<unsigned> tasks_of(const groups_request& r, bool evenly) {
  const unsigned light = r.tasks * std::max(r.processors / r.groups, 1U);
  const auto heavy = static_cast<unsigned>(std::lround(light * r.imbalance));
  std::vector<unsigned> tasks(r.groups, light);
  tasks[0] = heavy;
  if (!evenly) return tasks;
  const unsigned all = heavy + light * (r.groups - 1);
  for (unsigned g = 0; g < r.groups; ++g) tasks[g] = all / r.groups + (g < all % r.groups ? 1 : 0);
  return tasks;
}

groups_work measure_work(const groups_request& r) {
  const machine::affinity_scope keeps;
  machine::pin_this_thread(processors_of(r).front());
  groups_work work;
  work.rounds = rounds_within(r.task_us);
  const std::vector<unsigned> tasks = tasks_of(r, false);
  const std::uint64_t all = std::accumulate(tasks.begin(), tasks.end(), std::uint64_t{0});
  const std::uint64_t begin = base::thread_processor_ns();  // other programs must not make the ideal time longer
  for (std::uint64_t i = 0; i < all; ++i) work.sum += value_of(i, work.rounds);
  work.seconds = static_cast<double>(base::thread_processor_ns() - begin) * 1e-9;
  return work;
}

double ideal_seconds(const groups_request& r, const groups_work& work) {
  const std::vector<unsigned> tasks = tasks_of(r, false);
  const double all = std::accumulate(tasks.begin(), tasks.end(), 0.0);
  const double first = work.seconds * tasks[0] / all / std::min(r.workers, r.processors);
  return std::max(first, work.seconds / std::min(r.processors, r.groups * r.workers));
}

groups_result run_groups(const groups_request& r, treatment how, const groups_work& work) {
  return groups_run(r, how, work).measure();
}

}  // namespace shoal::bench
