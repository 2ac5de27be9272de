// SPDX-License-Identifier: Apache-2.0
#include "shoal/pool.hpp"

#include <exception>
#include <optional>
#include <system_error>

#include "base/log.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "runtime/config.hpp"
#include "runtime/hang_watch.hpp"
#include "runtime/job.hpp"
#include "runtime/profile_report.hpp"
#include "runtime/submissions.hpp"
#include "sched/pool.hpp"
#include "sched/stack_overflow.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal {
namespace {

struct what_was_asked {
  sched::pool_options options;
  runtime::profile_wish profiling;
  std::int64_t hang_ns = 0;
};

what_was_asked read_options(const pool_options& options) {
  auto s = runtime::all_settings();
  for (const auto& [name, value] : options.settings) s.set(name, value);
  if (options.workers != 0) s.set("workers", std::to_string(options.workers));
  s.check();
  runtime::config c = runtime::read_config(s);
  if (s.origin("pin") == base::setting_origin::standard) c.pin = false;

  sched::pool_options o = runtime::scheduler_options(c);
  // Looking at the machine takes longer than all the rest, and most pools need nothing of it.
  if (o.workers == 0 || c.pin) {
    const auto machine = machine::topology::discover();
    o.processors_for_it = machine.usable_processors();
    if (o.workers == 0) o.workers = o.processors_for_it;
    const auto place = machine.choose(1, 0, o.workers);
    if (c.pin && place.pin) {
      o.processors.assign(place.pus.begin(), place.pus.end());
      o.where = place.where;
    }
  }
  if (!c.topology.empty()) o.where = machine::topology::synthetic(c.topology).choose(1, 0, o.workers).where;
  return {std::move(o), c.profiling, c.hang_ns};
}

}  // namespace

struct pool::state {
  explicit state(what_was_asked asked)
      : hang_ns(asked.hang_ns),
        wish(std::move(asked.profiling)),
        files(runtime::claim_profile_files(wish, 0, 1)),
        workers(asked.options) {}
  ~state() { workers.finish(); }  // before the trace goes that they write to

  // After fork(), the child has only the calling thread: no workers, and no thread that would release a lock.
  bool is_copy() const noexcept { return machine::own_pid() != process; }
  void require_workers() const {
    if (is_copy())
      throw error(errc::unsupported,
                  "this pool belongs to the process that has forked: its workers do not exist in the "
                  "child; make a pool there");
  }

  const int process = machine::own_pid();
  const std::int64_t hang_ns;
  const runtime::profile_wish wish;
  const runtime::profile_files files;
  sched::pool workers;
  std::optional<runtime::trace_recording> tracing;
  std::optional<profile_span> whole_life;  // of the settings `profile` and `trace`
  runtime::submissions tasks{
      workers,
      "the pool is shutting down and takes no more tasks; submit before shutdown() or the destructor, or "
      "let the tasks that run begin others with a task_group"};
  std::optional<runtime::watch_entry> watched;
};

pool::pool(const pool_options& options) {
  if (detail::t_worker != nullptr)
    throw error(errc::invalid_argument,
                "a pool is made by a task, and pools do not nest: its destructor would block the worker; make it on a "
                "thread of the program, or give the tasks to the pool that there is (task_group, async)");
  try {
    sched::explain_stack_overflows();
    state_ = std::make_unique<state>(read_options(options));
    if (!state_->wish.trace.folder.empty()) state_->tracing.emplace(state_->wish.trace, 0, 1, state_->workers);
    state_->workers.start();
    runtime::watched_job watched;
    watched.pools = {&state_->workers};
    watched.hang_ns = state_->hang_ns;
    watched.runs = [&s = *state_] { return s.tasks.any() || s.workers.has_detached(); };
    state_->watched.emplace(std::move(watched));
    if (state_->wish.on || state_->tracing)
      state_->whole_life.emplace(shoal::begin_profile(state_->workers, state_->wish.options(1)));
  } catch (const std::system_error& e) {
    throw error(errc::system, runtime::describe_failure(e));
  }
}

pool::~pool() {
  if (state_->is_copy()) {
    static_cast<void>(state_.release());  // its threads cannot be joined, and what they used is as it was just then
    return;
  }
  shutdown();
  if (state_->whole_life) {
    try {
      const profile whole = state_->whole_life->end();
      if (state_->tracing) state_->tracing->finish();
      if (state_->wish.on) runtime::report_profile(whole, state_->files, 0, 1);
    } catch (const error& e) {
      base::warn("{}", e.what());
    }
  }
  state_->workers.finish();
}

profile_span pool::begin_profile(const profile_options& options) {
  state_->require_workers();
  return shoal::begin_profile(state_->workers, options);
}

unsigned pool::workers() const noexcept { return state_->workers.size(); }

void pool::check_outside() noexcept {
  SHOAL_ASSERT(detail::t_worker == nullptr,
               "pool::run and shutdown block their thread, and this one is a worker: from a task use a task_group");
}

void pool::begin(std::unique_ptr<detail::submission> s) {
  state_->require_workers();
  state_->tasks.begin(std::move(s));
}

void pool::shutdown() {
  check_outside();
  state_->require_workers();
  state_->tasks.close();
}

}  // namespace shoal
