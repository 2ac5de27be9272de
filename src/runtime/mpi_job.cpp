// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi_job.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "machine/executor.hpp"
#include "machine/neighbourhood.hpp"
#include "machine/process.hpp"
#include "machine/process_memory.hpp"
#include "rank/call_trace.hpp"
#include "rank/debug_table.hpp"
#include "rank/node_ranks.hpp"
#include "remote/worker_port.hpp"
#include "runtime/debug_marks.hpp"
#include "runtime/job.hpp"
#include "runtime/rank_watch.hpp"
#include "runtime/start_info.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/region_mark.hpp"
#include "shoal/spmd.hpp"
#include "shoal/stack_bytes.hpp"
#include "shoal/task.hpp"

namespace shoal::runtime {
namespace {

// Of this process. Partners: who sets it before the job, and the nodes' members.
mpi_program the_program;

// What the nodes tell each other of themselves.
struct process_card {
  std::uint64_t neighbourhood;
  std::int64_t process;
};

process_card own_card() {
  machine::permit_memory_reads();
  return {std::hash<std::string>()(machine::neighbourhood()), machine::own_pid()};
}

void receive_end(const detail::arrival& a) noexcept {
  std::fflush(nullptr);
  machine::exit_now(static_cast<int>(a.payload[0] & 0xff));
}

// Ends the process after a while, whatever the network does: a node that does not look takes no more messages.
class last_moment final : machine::activity {
public:
  last_moment(machine::executor& executor, int status)
      : executor_(executor), status_(status), at_ns_(executor.now_ns() + k_most_ns) {
    if (!executor.has_real_clock()) return;
    try {
      runner_ = executor.make_runner("shoal-abort", *this);
      runner_->start();
    } catch (const std::exception&) {  // it ends when the network has taken all
    }
  }

private:
  static constexpr std::uint64_t k_most_ns = 500'000'000;
  static constexpr std::int64_t k_look_ns = 50'000'000;
  std::int64_t tick() noexcept override {
    if (executor_.now_ns() >= at_ns_) machine::exit_now(status_);
    return k_look_ns;
  }

  machine::executor& executor_;
  const int status_;
  const std::uint64_t at_ns_;
  std::unique_ptr<machine::activity_runner> runner_;
};

// Ends the job in the middle of what it does. Does not return.
void abort_job(rank::job_ranks& job, int status, const std::string& why) {
  base::write_line("", why);
  std::fflush(nullptr);
  shoal_debug_stop(why.c_str());
  detail::worker_base& w = detail::worker_here();
  std::uint64_t word = static_cast<unsigned>(status) & 0xff;
  if (word == 0) word = 1;  // 256 is no success, and a process has eight bits
  const last_moment end(sched::this_worker()->owner().executor(), static_cast<int>(word));
  for (std::uint32_t n = 0; n < job.form().nodes; ++n)
    if (n != job.form().node) detail::send(w, n, detail::receiver_of<receive_end>(), {&word, 1});
  detail::flush_all(*w.port);
  constexpr int k_polls = 1000;  // networks send while they are polled
  for (int i = 0; i < k_polls; ++i) poll();
  machine::exit_now(static_cast<int>(word));
}

// The ranks of a node, from their first to their last.
class rank_tasks {
public:
  /// `profiled`: nullptr: nobody wants a profile.
  rank_tasks(rank::job_ranks& ranks, rank_watch& watch, rank_report* profiled)
      : ranks_(ranks), watch_(watch), profiled_(profiled), statuses_(static_cast<std::size_t>(ranks.size_here())) {}

  std::vector<int> run() {
    const int n = ranks_.size_here();
    running_.store(n, std::memory_order_relaxed);
    waits_ = detail::this_task();
    tasks_ = std::make_unique<rank_task[]>(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      rank_task& t = tasks_[static_cast<std::size_t>(i)];
      t.all = this;
      t.of = &ranks_.at(i);
      t.run = begin;
      ranks_.at(i).home.place(t);
    }
    detail::leave(detail::wait_kind::end_of_job);
    return std::move(statuses_);
  }

private:
  struct rank_task final : sched::placed_task {
    rank_tasks* all = nullptr;
    rank::rank_state* of = nullptr;
  };

  static void begin(detail::task& raw) noexcept {
    auto& t = static_cast<rank_task&>(static_cast<sched::placed_task&>(raw));
    if (t.of->home.owner().stopping()) return;  // the job ends otherwise
    sched::started& begun = t.of->home.begun();
    begun.local = t.of;
    int status = 1;
    try {
      status = call_with_stack(stack_bytes(the_program.stack_bytes), [&t] { return t.all->run_program(*t.of); });
    } catch (const std::exception& e) {
      abort_job(t.of->job, 1, fmt::format("rank {}: {}", t.of->world, describe_failure(e)));
    }
    t.of->home.begun().local = nullptr;
    rank_tasks& all = *t.all;
    all.statuses_[static_cast<std::size_t>(t.of->local)] = status;
    // Release: the statuses. Partner: run(), through wake().
    if (all.running_.fetch_sub(1, std::memory_order_acq_rel) == 1) detail::wake(all.waits_);
  }

  // On the stack of the rank's main().
  int run_program(rank::rank_state& me) {
    const void* const frame = __builtin_frame_address(0);
    watch_.note_progress(me.home);
    std::optional<rank::call_trace> traced;
    if (is_traced()) {
      name_task(fmt::format("rank {}", me.world));
      traced.emplace(me);
    }
    debugged_.begin(me, frame);
    if (profiled_ != nullptr) profiled_->begin(me);
    const int status = the_program.run(me);
    if (profiled_ != nullptr) profiled_->end(me, frame);
    debugged_.end(me);
    watch_.note_progress(me.home);
    return status;
  }

  rank::job_ranks& ranks_;
  rank_watch& watch_;
  rank_report* profiled_;
  std::vector<int> statuses_;
  rank::debug_table debugged_{ranks_, the_program.stack_bytes};
  std::unique_ptr<rank_task[]> tasks_;
  std::atomic<int> running_{0};
  detail::suspended* waits_ = nullptr;
};

}  // namespace

void name_traced_code(const rank::rank_state& of) { of.home.owner().profiling().name_code(); }

namespace {

int run_member(team& t) {
  const process_card mine = own_card();
  const std::vector<process_card> cards = t.all_gather(mine);
  rank::job_ranks::shape shape{t.rank(), t.size(), the_program.ranks_per_node, {}};
  // On a simulated machine reading each other's memory would take no time.
  const bool may_read = sched::this_worker()->owner().executor().has_real_clock();
  for (const process_card& c : cards)
    if (may_read) shape.processes.push_back(c.neighbourhood == mine.neighbourhood ? static_cast<int>(c.process) : 0);
  sched::pool& pool = sched::this_worker()->owner();
  std::vector<sched::worker*> workers;
  for (unsigned i = 0; i < pool.size(); ++i) workers.push_back(&pool.at(i));
  auto node = std::make_unique<rank::node_ranks>();
  node->ranks = std::make_unique<rank::job_ranks>(shape, std::move(workers));
  node->ranks->abort_job = abort_job;
  node->ranks->environment = std::make_unique<rank::info>(start_info(the_program.command, node->ranks->size()));
  rank::job_ranks& ranks = *node->ranks;
  detail::port_here().context->above.store(node.release(), std::memory_order_release);
  t.barrier();  // from now on messages find the ranks of every node
  int status = 0;
  std::optional<rank_watch> watch;
  watch.emplace(ranks, pool);
  std::optional<rank_report> profiled;
  if (the_program.profile) profiled.emplace(ranks, *the_program.profile, the_program.stack_bytes);
  const std::vector<int> statuses = rank_tasks(ranks, *watch, profiled ? &*profiled : nullptr).run();
  watch.reset();
  for (const int s : statuses)
    if (status == 0) status = s;
  t.barrier();
  if (profiled) profiled->report(t);
  const std::vector<int> all = t.all_gather(status);
  for (const int s : all)
    if (s != 0) return s;
  return 0;
}

}  // namespace

void set_mpi_program(mpi_program p) { the_program = std::move(p); }
bool hosts_mpi_program() noexcept { return the_program.run != nullptr; }
std::vector<std::string> shown_command() { return hosts_mpi_program() ? the_program.command : machine::own_command(); }

int run_ranks() {
  return spmd([](team& t) { return run_member(t); });
}

}  // namespace shoal::runtime
