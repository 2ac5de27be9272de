// SPDX-License-Identifier: Apache-2.0
#include "shoal/task_flow.hpp"

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "sched/dependence_table.hpp"
#include "sched/flow_task.hpp"
#include "sched/strand.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/stop_scope.hpp"

namespace shoal {
namespace detail {

using sched::flow_task;
using sched::flow_terms;

namespace {
void act_on_terms(flow_body& self, bool call);
}  // namespace

struct flow_state {
  explicit flow_state(std::size_t most) : most_unfinished(most) {}

  const std::size_t most_unfinished;
  sched::flow_task_store tasks{act_on_terms};
  sched::dependence_table table{tasks};
  sched::dependence_table::task_list predecessors;  // of the task that is being registered
  suspended* user =
      nullptr;           // the task that added the first unfinished task; read by the flow's tasks to detect misuse
  bool waiting = false;  // the user is in wait(), where tasks of the flow may run on its stack
  completion unfinished;

  // Written by the workers that run the tasks:
  alignas(lockfree::k_cache_line_bytes) std::atomic<bool> failed{false};  // partners: workers that start tasks
  // Written by the user:
  const detail::scope* scope = nullptr;        // of the tasks; constant while there is a user
  const detail::scope* given_scope = nullptr;  // the same, if the flow stops with it
  bool drops() const noexcept {
    // Relaxed: who must not begin has this from the task's end.
    return failed.load(std::memory_order_relaxed) || (given_scope != nullptr && given_scope->stop_requested());
  }
  alignas(lockfree::k_cache_line_bytes) std::atomic<flow_task*> ended{nullptr};  // partners: take_ended(), give_back()
};

namespace {

struct strand {
  std::int64_t count;
  flow_task* last;  // of the chain of those that ended, the last one is first
  flow_task* first;
};

void run_late(task& t) noexcept;

void spawn_claimed(worker_base& w, const flow_terms& terms) {
  sched::spawn_ranked(w, *terms.task, terms.rank_once_claimed(terms.rank));
}

// A task on terms that all its predecessors have made ready. Who leaves an exclusion that it lacks spawns it later.
[[gnu::cold, gnu::noinline]] void spawn_on_terms(worker_base& w, flow_task& t) {
  flow_terms& terms = *t.terms;
  if (terms.claims_late(terms.rank)) {
    t.run = run_late;
    spawn_apart(w, t, terms.rank);
  } else if (terms.claim_all()) {
    spawn_claimed(w, terms);
  }
}

[[gnu::cold, gnu::noinline]] void fail(flow_state& f, std::exception_ptr e) noexcept {
  f.unfinished.fail(std::move(e));
  // Relaxed: who must not begin has this from the task's end.
  f.failed.store(true, std::memory_order_relaxed);
}

strand run_strand(flow_state& f, flow_task* t) noexcept {
  worker_base& w = *t_worker;
  const bool alone = sched::alone(w);
  strand s{1, nullptr, t};
  const sched::strand_scope inside(f.scope);
  sched::known_as known(static_cast<sched::worker&>(w).begun(), nullptr, nullptr);
  for (;; ++s.count) {
    known.change(reinterpret_cast<const void*>(t->act));
    const bool call = !f.drops();
    sched::run_body([&f](std::exception_ptr e) { fail(f, std::move(e)); }, [t, call] { t->act(*t, call); });
    flow_task* next = nullptr;
    t->for_successors(t->successors.close(alone), [&](flow_task& later) {
      if (!later.left.arrive(alone)) return;
      if (later.terms != nullptr) [[unlikely]]
        spawn_on_terms(w, later);
      else if (next == nullptr)
        next = &later;
      else
        spawn(w, later);
    });
    t->next = s.last;
    s.last = t;
    if (next == nullptr) return s;
    if (sched::gives_way(w)) [[unlikely]] {
      spawn(w, *next);
      return s;
    }
    t = next;
  }
}

// The places of a strand's tasks go back to the registering task, which alone uses them again.
void give_back(flow_state& f, const strand& s) noexcept {
  flow_task* head = f.ended.load(std::memory_order_relaxed);
  do s.first->next = head;
  while (!f.ended.compare_exchange_weak(head, s.last, std::memory_order_release, std::memory_order_relaxed));
}

bool take_ended(flow_state& f) noexcept {
  if (f.ended.load(std::memory_order_relaxed) == nullptr) return false;
  f.tasks.put(f.ended.exchange(nullptr, std::memory_order_acquire));
  return true;
}

void run_from_loop(task& t) noexcept {
  auto& f = *static_cast<flow_state*>(const_cast<void*>(t.group));
  const strand s = run_strand(f, static_cast<flow_task*>(&t));
  give_back(f, s);
  f.unfinished.done(s.count);
}

void run_late(task& t) noexcept {
  t.run = run_from_loop;
  if (static_cast<flow_task&>(t).terms->claim_all()) run_from_loop(t);
}

// The body of a task on terms, which is an ordinary one from now on. Its asynchronous operations are complete before
// the exclusions are others'.
void act_on_terms(flow_body& self, bool call) {
  auto& t = static_cast<flow_task&>(self);
  flow_terms& terms = *t.terms;
  t.act = terms.act;
  struct leaving {
    flow_terms& terms;
    std::uint64_t issued = issued_count();
    ~leaving() {
      settle(issued);
      terms.leave_all([](sched::claim& c) { spawn_claimed(*t_worker, static_cast<flow_terms&>(c)); });
    }
  } const end{terms};
  sched::this_worker()->runs_code(reinterpret_cast<const void*>(t.act));
  t.act(t, call);
}

suspended* current_task() noexcept { return reinterpret_cast<suspended*>(sched::this_worker()->current()); }

[[noreturn, gnu::cold, gnu::noinline]] void refuse(const flow_state& f, const char* what) {
  throw error(errc::invalid_argument,
              std::string(what) + (f.user == current_task() ? " by one of the flow's own tasks" : " by another task") +
                  " while tasks of this flow are unfinished: only the task that gave them may go on with the flow and "
                  "wait for it; a task that is part of a flow makes a task_flow of its own for what it begins");
}

inline void require_user(const flow_state& f, const char* what) {
  if (f.user != nullptr && (f.user != current_task() || f.waiting)) [[unlikely]]
    refuse(f, what);
}

// So that no more than half of what may be unfinished is. Not on this stack: what runs might wait for a later task.
void hold_back(flow_state& f) noexcept {
  f.unfinished.wait_for(f.unfinished.begun() - static_cast<std::int64_t>(f.most_unfinished / 2));
}

void begin_use(flow_state& f, worker_base& w) noexcept {
  f.user = current_task();
  f.scope = f.given_scope != nullptr ? f.given_scope : w.scope;
  if (f.scope != nullptr) f.scope->add();
}

void end_use(flow_state& f) noexcept {
  if (f.scope != nullptr) f.scope->remove();
  f.scope = nullptr;
  f.user = nullptr;
}

// No task is unfinished: the next one may be given by any task.
void come_to_rest(flow_state& f) noexcept {
  take_ended(f);
  f.table.clear();
  f.failed.store(false, std::memory_order_relaxed);
  end_use(f);
}

void wait_all(flow_state& f) noexcept {
  f.waiting = true;
  worker_base& w = *t_worker;
  auto& self = static_cast<sched::worker&>(w);
  self.expect_other_work();
  while (!f.unfinished.nothing_begun() && self.has_room()) {
    take_turn(w);
    task* const t = unspawn_of(w, &f);
    if (t == nullptr) break;
    const strand s = run_strand(f, static_cast<flow_task*>(t));
    f.tasks.put(s.last);
    f.unfinished.ran_here(s.count);
  }
  f.unfinished.wait(detail::wait_kind::graph);
  f.waiting = false;
  come_to_rest(f);
}

// There is no memory to remember what the task depends on: without the others it depends on nothing.
[[gnu::cold, gnu::noinline]] void drop_unregistered(flow_state& f, flow_task& t) noexcept {
  f.unfinished.wait(detail::wait_kind::graph);
  f.table.clear();
  t.act(t, false);
  t.successors.close();
  t.next = nullptr;
  f.tasks.put(&t);
  end_use(f);
}

}  // namespace
}  // namespace detail

using detail::flow_body;
using detail::flow_task;

task_flow::task_flow(std::size_t most_unfinished) {
  if (most_unfinished == 0 || most_unfinished > UINT32_MAX)
    throw error(errc::invalid_argument, "a task_flow is made for " + std::to_string(most_unfinished) +
                                            " unfinished tasks; it takes from 1 to 4294967295");
  state_ = std::make_unique<detail::flow_state>(most_unfinished);
}

task_flow::task_flow(const stop_scope& s, std::size_t most_unfinished) : task_flow(most_unfinished) {
  state_->given_scope = &s;
}

task_flow::task_flow(in_scope_t, std::size_t most_unfinished) : task_flow(most_unfinished) {
  state_->given_scope = detail::worker_here().scope;
}

task_flow::~task_flow() {
  if (state_->user == nullptr) return;
  SHOAL_ASSERT(state_->user == detail::this_task() && !state_->waiting,
               "a task_flow with unfinished tasks is destroyed by another task than gave them; wait() for it there");
  detail::wait_all(*state_);
}

std::size_t task_flow::most_unfinished() const noexcept { return state_->most_unfinished; }

flow_body& task_flow::make() {
  detail::flow_state& f = *state_;
  detail::worker_here();
  detail::require_user(f, "run() is called");
  for (;;) {
    if (flow_task* t = f.tasks.take()) [[likely]]
      return *t;
    if (detail::take_ended(f)) continue;
    if (f.tasks.size() < f.most_unfinished)
      f.tasks.grow(f.most_unfinished, detail::run_from_loop, &f);
    else
      detail::hold_back(f);
  }
}

void task_flow::unmake(flow_body& made) noexcept {
  auto& t = static_cast<flow_task&>(made);
  t.successors.close();
  t.next = nullptr;
  state_->tasks.put(&t);
}

void task_flow::submit(flow_body& made, const access* declared, std::size_t count) {
  detail::flow_state& f = *state_;
  detail::worker_base& w = *detail::t_worker;
  const bool alone = sched::alone(w);
  auto& t = static_cast<flow_task&>(made);
  if (f.user == nullptr) detail::begin_use(f, w);
  auto& predecessors = f.predecessors;
  predecessors.clear();
  try {
    f.table.register_accesses(t, {declared, count}, predecessors);
    // All are expected from the start, so that no few of them begin the task; those that have ended meanwhile are given
    // up afterwards.
    bool ready = true;
    if (!predecessors.empty()) {
      const auto expected = static_cast<std::int32_t>(predecessors.size());
      t.left.expect(expected);
      std::int32_t in_vain = 0;
      for (flow_task* p : predecessors) in_vain += p->precede(t, alone) ? 0 : 1;
      ready = in_vain != 0 && t.left.give_up(in_vain);
    }
    if (ready) {
      if (t.terms != nullptr) [[unlikely]]
        detail::spawn_on_terms(w, t);
      else
        detail::spawn(w, t);
    }
    f.unfinished.add();
  } catch (...) {
    detail::drop_unregistered(f, t);
    throw;
  }
  detail::take_turn(w);
}

void task_flow::submit_ranked(flow_body& made, const access* declared, std::size_t count, priority p) {
  auto& t = static_cast<flow_task&>(made);
  try {
    state_->tasks.on_terms(t).rank = p;
  } catch (...) {
    t.act(t, false);
    unmake(made);
    throw;
  }
  submit(made, declared, count);
}

void task_flow::wait() {
  detail::flow_state& f = *state_;
  if (f.user != nullptr) {
    detail::worker_here();  // fails with a message on other threads
    detail::require_user(f, "wait() is called");
    detail::wait_all(f);
  }
  f.failed.store(false, std::memory_order_relaxed);
  f.unfinished.rethrow();
}

bool task_flow::wait_by(detail::time_limit until) {
  detail::flow_state& f = *state_;
  detail::worker_here();  // fails with a message on other threads
  if (f.user != nullptr) {
    detail::require_user(f, "wait_for() is called");
    if (!f.unfinished.wait_until(until)) return false;
    detail::come_to_rest(f);
  }
  f.failed.store(false, std::memory_order_relaxed);
  f.unfinished.rethrow();
  return true;
}

}  // namespace shoal
