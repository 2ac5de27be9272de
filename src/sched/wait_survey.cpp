// SPDX-License-Identifier: Apache-2.0
#include "sched/wait_survey.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "base/rough_time.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/filling.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "sched/task_identity.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/future_state.hpp"
#include "shoal/sync.hpp"

namespace shoal::sched {
namespace {

using detail::wait_kind;
using fiber::stack_notes;

// Shared by the caller and the workers, of which some may answer after the caller has left.
struct questionnaire {
  std::mutex mutex;  // held for a moment
  wait_survey found;
  std::vector<bool> answered;
  std::size_t most = 0;
  std::atomic<std::uint32_t> missing{0};  // partners: the workers and the caller, who waits for its changes
};

struct question final : errand {
  std::shared_ptr<questionnaire> of;
};

void answer(detail::task& t) noexcept {
  const fiber::tsan_ignore_scope ignore;
  const std::unique_ptr<question> mine(&static_cast<question&>(static_cast<errand&>(t)));
  questionnaire& all = *mine->of;
  worker& w = *this_worker();
  machine::executor& executor = w.owner().executor();
  const std::uint64_t begun_ns = executor.now_ns();
  try {
    std::vector<waiting_task> tasks;
    const std::size_t waiting = w.list_waits(tasks, all.most);
    const std::lock_guard hold(all.mutex);
    all.found.took_ns += executor.now_ns() - begun_ns;
    all.found.tasks.reserve(all.found.tasks.size() + tasks.size());
    all.found.waiting += waiting;
    std::ranges::move(tasks, std::back_inserter(all.found.tasks));
    all.answered[w.index] = true;
  } catch (const std::bad_alloc&) {  // as if it had not answered
  }
  all.missing.fetch_sub(1, std::memory_order_release);
  executor.wake(all.missing, 1, false);
}

// What the object says may be asked for only where it exists for certain: whoever wakes the task may destroy a latch or
// a semaphore before the task goes on.
void describe_object(waiting_task& t, const stack_notes& notes) {
  switch (t.why) {
    case wait_kind::mutex: {
      const detail::task_name holder = static_cast<mutex*>(const_cast<void*>(t.object))->holder();
      t.held_by = holder.stack;
      t.holder_number = holder.number;
      break;
    }
    case wait_kind::children:
    case wait_kind::graph:
    case wait_kind::operations: t.missing = static_cast<const detail::completion*>(t.object)->missing(); break;
    case wait_kind::loop:
      t.missing = static_cast<const detail::loop_state*>(t.object)->pieces.load(std::memory_order_relaxed);
      break;
    case wait_kind::future:
    case wait_kind::promise: {
      const auto& s = *static_cast<const detail::future_state*>(t.object);
      if (s.name != nullptr) t.awaited = s.name;
      const std::uintptr_t edge = notes.waits_for.load(std::memory_order_seq_cst);
      if (edge != stack_notes::k_no_edge && !stack_notes::is_open(edge))
        t.held_by = reinterpret_cast<const void*>(edge);
      break;
    }
    case wait_kind::message:
    case wait_kind::thread: {
      const auto& wait = *static_cast<const detail::described_wait*>(t.object);
      t.of_rank = wait.describe(wait);
      break;
    }
    default: break;
  }
}

}  // namespace

// The stacks of this worker, whose thread is here, so none of them runs or ends; the stacks of movable tasks that run
// here, or wait and stay, which are the same; and those of movable tasks that have begun here and may continue anywhere,
// each while `parting` keeps others off it.
std::size_t worker::list_waits(std::vector<waiting_task>& into, std::size_t most) {
  const fiber::tsan_ignore_scope ignore;
  const std::uint64_t now = owner_.rough_now();
  const double per_us =
      owner_.executor().has_real_clock() ? base::rough_time::per_us() : 1000 * base::rough_time::k_per_ns;
  std::size_t count = 0;
  const auto look = [&](const fiber::fiber& f) {
    const auto why = static_cast<wait_kind>(f.waits_as);
    if (why == wait_kind::none || why == wait_kind::end_of_job || ++count > most) return;
    const task_identity who = identify(f);
    waiting_task t;
    t.worker = index;
    t.stack = f.notes;
    t.number = static_cast<const started*>(f.notes->running)->number;
    t.code = who.code;
    if (who.name != nullptr) t.name = who.name;
    t.why = why;
    t.object = f.wait->object;
    const std::uint64_t ticks = now - std::min(now, f.wait->since);
    t.waited_ns = static_cast<std::uint64_t>(static_cast<double>(ticks) * 1000 / per_us);
    describe_object(t, *f.notes);
    if (t.why == wait_kind::mutex && t.held_by == t.stack && t.holder_number == t.number &&
        f.notes->holder() != f.notes) {  // it has just got it
      --count;
      return;
    }
    for (auto* one = f.notes->fills; one != nullptr; one = one->outer)
      t.fills.push_back(static_cast<const filling*>(one)->state);
    into.push_back(std::move(t));
  };
  look(native_);
  stacks_.visit(look);
  for (const auto& stock : sized_)
    if (stock != nullptr) stock->pool.visit(look);
  for (const movable_guest* g = guests_; g != nullptr; g = g->next) look(g->of);
  if (movable_ == nullptr) return count;
  // Those that may continue on any worker: whoever wakes one meanwhile leaves it to this thread to publish it.
  movable_->visit([&look](const fiber::fiber& f) {
    auto* const frame = static_cast<movable_frame*>(static_cast<started*>(f.notes->running));
    if (frame == nullptr || !frame->parting.look()) return;
    look(f);
    if (!frame->parting.end_look()) frame->publish();
  });
  return count;
}

wait_survey take_wait_survey(pool& p, std::size_t most_per_worker, std::int64_t patience_ns) {
  auto all = std::make_shared<questionnaire>();
  all->most = most_per_worker;
  all->answered.resize(p.size());
  all->missing = p.size();
  std::vector<std::unique_ptr<question>> questions;
  for (unsigned i = 0; i < p.size(); ++i) {
    questions.push_back(std::make_unique<question>());
    questions.back()->of = all;
    questions.back()->run = answer;
  }
  const bool asked = p.give_unless_stopping([&] {
    for (unsigned i = 0; i < p.size(); ++i) p.at(i).give_errand(*questions[i].release());
  });
  if (!asked) return {};
  machine::executor& executor = p.executor();
  const std::uint64_t end_ns = executor.now_ns() + static_cast<std::uint64_t>(patience_ns);
  for (std::uint32_t left = 0; (left = all->missing.load(std::memory_order_acquire)) != 0;) {
    const std::uint64_t now_ns = executor.now_ns();
    if (now_ns >= end_ns) break;
    executor.wait(all->missing, left, static_cast<std::int64_t>(end_ns - now_ns), false);
  }
  const std::lock_guard hold(all->mutex);
  for (unsigned i = 0; i < p.size(); ++i)
    if (!all->answered[i]) all->found.silent.push_back(i);
  return std::move(all->found);
}

}  // namespace shoal::sched
