// SPDX-License-Identifier: Apache-2.0
#include "runtime/hang_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "machine/local_service.hpp"
#include "machine/one_per_process.hpp"
#include "machine/process.hpp"
#include "machine/signal_request.hpp"
#include "runtime/cycle_watch.hpp"
#include "runtime/debug_marks.hpp"
#include "runtime/processor_share.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

constexpr std::int64_t k_look_ns = 100'000'000;
constexpr std::int64_t k_idle_look_ns = 1'000'000'000;
constexpr std::uint64_t k_settled_ns = 200'000'000;  // still for so long, before anybody is asked
constexpr std::uint64_t k_longest_pause_ns = 2'000'000'000;
constexpr std::size_t k_most_lines = 40;  // of a table on standard error

std::atomic<bool> g_ending{false};  // partner: the service activity

struct entry {
  explicit entry(watched_job w) : job(std::move(w)) {}

  watched_job job;
  std::uint64_t number = 0;
  std::string id;
  std::uint64_t version = 0;  // of the stillness that began at `since_ns`
  std::uint64_t since_ns = 0;
  std::uint64_t ask_after_ns = 0;
  std::uint64_t pause_ns = 0;
  std::uint32_t asked_first = 1;  // the node that was busy when it was asked last
  bool reported = false;
  bool warned = false;
  cycle_watch cycles;

  bool in_one_process() const noexcept { return job.processes.empty(); }
  /// Whether it may ever be found that nothing can go on.
  bool can_end() const { return job.may_end() && std::ranges::find(job.processes, 0) == job.processes.end(); }
  bool is_first() const noexcept { return job.first_node == 0; }
  sched::pool& first_pool() const noexcept { return *job.pools.front(); }
};

std::uint64_t count_of(const std::vector<node_waits>& all) {
  std::uint64_t n = 0;
  for (const node_waits& one : all) n += one.waiting;
  return n;
}

// `of_ranks`: instead, where the tasks are ranks of MPI.
void write_report(const entry& e, const std::string& heading, const std::string& of_ranks) {
  std::string missing;
  const auto all = waits_everywhere(e.job, e.id, missing);
  const std::uint64_t ranks = ranks_of(all);
  const std::uint64_t count = ranks == 0 ? count_of(all) : ranks;
  base::write_line("", fmt::format("{} ({} {})\n{}{}", ranks == 0 ? heading : of_ranks,
                                   base::counted(count, ranks == 0 ? "task" : "rank"), count == 1 ? "waits" : "wait",
                                   table_of(all, k_most_lines), missing));
}

// Has all workers begin tasks: those that wait may need some of inactive workers. Returns whether there were any.
bool begin_by_all(const watched_job& job) {
  bool any = false;
  for (sched::pool* const p : job.pools) {
    if (p->active() == p->size()) continue;
    base::verbose(
        "tasks wait for others that fewer workers cannot begin: all workers of this pool begin tasks from now on");
    p->need_all();
    any = true;
  }
  return any;
}

std::string why_exhausted(const job_state& s) {
  if (s.starved)
    return "exhausted: no stack is left for another waiting task, and those that wait need tasks that cannot begin; "
           "raise SHOAL_STACKS, or let fewer tasks wait at a time; ";
  if (s.holds_back)
    return "exhausted: as many iterations wait as the settings allow, and they need iterations that are held back; "
           "raise SHOAL_WAITING_MEMORY and SHOAL_STACKS (half of the stacks are for such iterations), or let "
           "iterations "
           "wait for earlier ones only; ";
  return {};
}

[[noreturn]] void end_job(const entry& e, const job_state& s) {
  write_report(e,
               fmt::format("{}nothing in this job can run any more, and nothing outside can wake it: it ends with "
                           "status {}",
                           why_exhausted(s), base::k_job_failed_status),
               fmt::format("{}no rank can go on: a deadlock; the job ends with status {}", why_exhausted(s),
                           base::k_job_failed_status));
  shoal_debug_stop("nothing in this job can run any more: a deadlock");
  for (std::uint32_t n = 0; n < e.job.processes.size(); ++n)
    if (n != e.job.first_node)
      static_cast<void>(machine::ask(service_name(e.job.processes[n]), "end " + e.id, k_ask_ns));
  std::fflush(stdout);  // what the program has printed says where it has come to
  machine::exit_now(base::k_job_failed_status);
}

// Of the process.
class hang_watch {
public:
  hang_watch();
  ~hang_watch();
  hang_watch(const hang_watch&) = delete;
  hang_watch& operator=(const hang_watch&) = delete;

  const int process = machine::own_pid();
  std::uint64_t add(watched_job job);
  bool remove(std::uint64_t number);  // true: none is left
  void start(machine::executor& by);

private:
  void run();
  void look_or_warn(entry& e, std::uint64_t now_ns);
  void look(entry& e, std::uint64_t now_ns);
  void report_all();
  std::string answer(const std::string& question);
  std::string list();
  std::string memory();
  entry* find(const std::string& id);
  std::size_t others() const noexcept { return entries_.size() - 1; }

  std::mutex mutex_;  // held while a job is looked at or described
  std::list<entry> entries_;
  std::optional<processor_share> shares_;
  std::uint64_t numbers_ = 0;
  bool stopping_ = false;
  bool wanted_ = false;  // a table, by another node that got the signal
  std::uint64_t reported_ns_ = 0;
  machine::executor* executor_ = nullptr;
  machine::wake_descriptor wake_;
  machine::signal_request signal_;
  std::optional<machine::local_service> service_;
  std::unique_ptr<machine::executor::thread> thread_;
};

struct registry {
  std::mutex mutex;
  hang_watch* watch = nullptr;  // while there are entries
};
machine::one_per_process<registry> g_registry;

hang_watch::hang_watch() {
  try {
    service_.emplace(service_name(process));
  } catch (const std::exception& e) {
    base::verbose("shoal ps will not see this process: {}", e.what());
  }
}

hang_watch::~hang_watch() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.wake();
  thread_.reset();
}

void hang_watch::start(machine::executor& by) {
  executor_ = &by;
  shares_.emplace(processor_share::of_this_machine(by));
  thread_ = by.start_thread("shoal-watch", [this, log = base::current_log_context()] {
    base::set_log_context({.level = log.level});
    run();
  });
}

std::uint64_t hang_watch::add(watched_job job) {
  const std::lock_guard hold(mutex_);
  entry& e = entries_.emplace_back(std::move(job));
  e.number = ++numbers_;
  e.id = e.in_one_process() ? fmt::format("{}.{}", process, e.number) : fmt::format("{}", e.job.processes[0]);
  return e.number;
}

bool hang_watch::remove(std::uint64_t number) {
  const std::lock_guard hold(mutex_);
  std::erase_if(entries_, [number](const entry& e) { return e.number == number; });
  return entries_.empty();
}

void hang_watch::run() {
  for (std::int64_t pause_ns = k_look_ns;;) {
    const std::array<int, 3> descriptors{wake_.descriptor(), signal_.descriptor(),
                                         service_ ? service_->descriptor() : -1};
    const int ready = executor_->wait_any(descriptors, pause_ns);
    const std::lock_guard hold(mutex_);
    if (stopping_) return;
    try {
      if (ready == 2) service_->answer_one([this](const std::string& q) { return answer(q); }, k_ask_ns);
      const bool signalled = signal_.take();
      if (std::exchange(wanted_, false) || signalled) report_all();
      const std::uint64_t now_ns = executor_->now_ns();
      for (entry& e : entries_) look_or_warn(e, now_ns);
      // Only a job of shoal::run may have to be ended.
      pause_ns =
          std::ranges::any_of(entries_, [](const entry& e) { return e.job.may_end(); }) ? k_look_ns : k_idle_look_ns;
      std::vector<sched::pool*> pools;
      for (const entry& e : entries_) pools.insert(pools.end(), e.job.pools.begin(), e.job.pools.end());
      pause_ns = std::min(pause_ns, shares_->look(pools, now_ns));
    } catch (const std::exception& e) {
      base::warn("what tasks wait for could not be described: {}", e.what());
    }
  }
}

// What fails for one job does not keep the others from being watched.
void hang_watch::look_or_warn(entry& e, std::uint64_t now_ns) {
  try {
    look(e, now_ns);
  } catch (const std::exception& problem) {
    if (!std::exchange(e.warned, true)) base::warn("what tasks wait for could not be described: {}", problem.what());
  }
}

void hang_watch::look(entry& e, std::uint64_t now_ns) {
  e.cycles.look(e.job, *executor_, now_ns);
  if (!e.is_first() || !e.job.runs() || (e.reported && !e.can_end()) || now_ns < e.ask_after_ns) return;
  const job_state here = look_here(e.job, others());
  if (!here.still || here.version != e.version) {
    e.version = here.version;
    e.since_ns = now_ns;
    e.pause_ns = e.ask_after_ns = 0;
    return;
  }
  const std::uint64_t still_ns = now_ns - e.since_ns;
  if (still_ns < k_settled_ns) return;
  if (begin_by_all(e.job)) {
    e.since_ns = now_ns;
    return;
  }
  // A look reads what is in flight to each node: less and less often while nothing changes.
  e.pause_ns = std::clamp(2 * e.pause_ns, static_cast<std::uint64_t>(k_look_ns), k_longest_pause_ns);
  e.ask_after_ns = now_ns + e.pause_ns;
  job_state all = here;
  if (!e.in_one_process()) {
    const job_state before = look_everywhere(e.job, e.id, others(), e.asked_first);
    if (!before.still) return;
    all = look_everywhere(e.job, e.id, others(), e.asked_first);
    if (!all.still || all.version != before.version) return;
  }
  if (all.whole && all.outside == 0 && e.job.may_end()) end_job(e, all);
  if (e.reported || e.job.hang_ns == 0 || still_ns < static_cast<std::uint64_t>(e.job.hang_ns)) return;
  e.reported = true;
  const double still_s = static_cast<double>(still_ns) * 1e-9;
  write_report(e,
               fmt::format("{}nothing in this {} has run for {:.1f} s; it goes on if another thread {} (reported once)",
                           why_exhausted(all), e.job.nodes > 1 || e.job.may_end() ? "job" : "job or pool", still_s,
                           all.outside != others() ? "sets a promise, gives up a lock or ends a blocking call"
                           : all.whole             ? "gives it a task"
                                                   : "gives it a task, or a node that was not asked does"),
               fmt::format("no rank has run for {:.1f} s; they go on if a thread of the program calls MPI or ends "
                           "(reported once)",
                           still_s));
}

// SIGUSR1. Node 0's process writes the table for all; the others, which may have got the signal too, tell it.
void hang_watch::report_all() {
  constexpr std::uint64_t k_again_ns = 500'000'000;
  const std::uint64_t now_ns = executor_->now_ns();
  if (now_ns - std::exchange(reported_ns_, now_ns) < k_again_ns) return;
  for (entry& e : entries_) {
    // Without waiting for an answer: node 0 may be asking this process.
    if (!e.is_first() && e.job.processes[0] != 0 &&
        machine::tell(service_name(e.job.processes[0]), "report " + e.id, k_ask_ns))
      continue;
    write_report(e, fmt::format("the tasks of {} {}", e.job.nodes > 1 ? "job" : "job or pool", e.id),
                 fmt::format("the ranks of job {}", e.id));
  }
}

entry* hang_watch::find(const std::string& id) {
  const auto found = std::ranges::find(entries_, id, &entry::id);
  return found != entries_.end() ? &*found : nullptr;
}

// "still ID", "waits ID", "report ID", "end ID", "list", "memory"
std::string hang_watch::answer(const std::string& question) {
  if (question == "list") return list();
  if (question == "memory") return memory();
  const std::size_t space = std::min(question.find(' '), question.size());
  const std::string verb = question.substr(0, space);
  entry* const e = find(question.substr(std::min(space + 1, question.size())));
  if (e == nullptr) return {};
  if (verb == "still") return look_here(e->job, others()).text();
  if (verb == "waits") {
    machine::symbols names;
    return to_text(waits_here(e->job, names));
  }
  if (verb == "report") {
    if (e->is_first()) wanted_ = true;
    return "will";
  }
  if (verb == "end" && !e->is_first() && !e->in_one_process()) {
    g_ending.store(true);
    return "will";
  }
  return {};
}

// For `shoal ps --memory`.
std::string hang_watch::memory() {
  std::string text;
  for (const entry& e : entries_) text += fmt::format("job\t{}\n{}", e.id, to_text(memory_here(e.job)));
  return text;
}

// For `shoal ps`.
std::string hang_watch::list() {
  machine::symbols names;
  std::string text;
  for (const entry& e : entries_) {
    text += fmt::format("job\t{}\t{}\t{}\n", e.id, e.job.nodes, e.in_one_process() ? "one" : "many");
    text += to_text(waits_here(e.job, names));
  }
  return text;
}

}  // namespace

watch_entry::watch_entry(watched_job job) {
  machine::executor& executor = job.pools.front()->executor();
  if (!executor.has_real_clock()) return;
  registry& all = g_registry.get();
  const std::lock_guard hold(all.mutex);
  process_ = machine::own_pid();
  if (all.watch == nullptr) {
    auto made = std::make_unique<hang_watch>();
    number_ = made->add(std::move(job));
    made->start(executor);
    all.watch = made.release();
  } else {
    number_ = all.watch->add(std::move(job));
  }
  watched_ = true;
}

watch_entry::~watch_entry() {
  if (!watched_ || machine::own_pid() != process_) return;
  registry& all = g_registry.get();
  const std::lock_guard hold(all.mutex);
  if (all.watch->remove(number_)) delete std::exchange(all.watch, nullptr);
}

bool is_ending_for_hang() noexcept { return g_ending.load(); }

}  // namespace shoal::runtime
