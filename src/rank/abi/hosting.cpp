// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/hosting.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/log.hpp"
#include "machine/executor.hpp"
#include "rank/abi/entry.hpp"
#include "rank/program_call.hpp"
#include "rank/unhosted.hpp"
#include "sched/pool.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::rank::abi {
namespace {

// Partners: the thread that calls MPI_Init, and all that call MPI.
std::atomic<rank_state*> the_unhosted{nullptr};
std::unique_ptr<unhosted> the_job;  // of the thread that calls MPI_Init
std::atomic<bool> unhosted_has_ended{false};
thread_local bool t_is_main = false;  // of a program without a host

// A call of a thread, as a task of its rank.
struct thread_call final : sched::placed_task, calling_thread {
  enum : std::uint32_t { runs, done, asks };
  int (*call)(void*) = nullptr;
  void* argument = nullptr;
  rank_state* of = nullptr;
  int result = 0;
  std::atomic<std::uint32_t> state{runs};  // partner: the thread that waits
  // While it asks: what the thread is to run, and the task's way back.
  void (*asked)(void*) = nullptr;
  void* asked_argument = nullptr;
  struct answer : sched::placed_task {
    detail::suspended* task = nullptr;
  } back;

  void tell(std::uint32_t what) noexcept {
    machine::executor& executor = of->home.owner().executor();
    state.store(what, std::memory_order_release);
    executor.wake(state, 1, false);  // of an address: the object may be gone
  }

  void run(void (*f)(void*), void* with) noexcept override {
    asked = f;
    asked_argument = with;
    back.task = detail::this_task();
    back.placed_task::run = [](detail::task& raw) noexcept {
      detail::wake(static_cast<answer&>(static_cast<sched::placed_task&>(raw)).task);
    };
    of->home.wait_from_outside(1);  // the thread ends the wait: it is no deadlock
    tell(asks);
    const other_wait note(of->world, "a callback", "the thread that it runs on");
    detail::leave(detail::wait_kind::thread, &note);
    of->home.wait_from_outside(-1);
  }

  static void begin(detail::task& raw) noexcept {
    auto& self = static_cast<thread_call&>(static_cast<sched::placed_task&>(raw));
    self.of->home.begun().local = self.of;
    self.of->home.begun().caller = static_cast<calling_thread*>(&self);
    constexpr std::size_t k_stack_bytes = std::size_t{256} << 10;  // functions of the program may run there
    try {
      self.result = call_with_stack(stack_bytes(k_stack_bytes), [&self] { return self.call(self.argument); });
    } catch (...) {
      self.result = MPI_ERR_NO_MEM;
    }
    self.of->home.begun().local = nullptr;
    self.of->home.begun().caller = nullptr;
    self.tell(done);
  }
};

}  // namespace

rank_state* unhosted_rank() noexcept { return the_unhosted.load(std::memory_order_acquire); }
rank_state* rank_of_thread() noexcept {
  rank_state* const of = thread_rank();
  return of != nullptr ? of : unhosted_rank();
}

rank_state& begin_unhosted() {
  the_job = make_unhosted();
  the_unhosted.store(&the_job->rank(), std::memory_order_release);
  return the_job->rank();
}

void end_unhosted() {
  unhosted_has_ended.store(true, std::memory_order_release);
  the_unhosted.store(nullptr, std::memory_order_release);
  the_job->end();
}

bool has_ended_unhosted() noexcept { return unhosted_has_ended.load(std::memory_order_acquire); }
void note_main_thread() noexcept { t_is_main = current_rank() == nullptr; }
// The task of a rank is its main thread.
bool is_main_thread() noexcept { return current_rank() != nullptr || t_is_main; }

int call_as_rank(int (*call)(void*), void* argument, const char* function) {
  rank_state* const of = rank_of_thread();
  if (of == nullptr) {
    base::write_line("",
                     fmt::format("{} is called by a thread that belongs to no rank: call MPI_Init first, in main(); "
                                 "a thread that a rank has made belongs to that rank",
                                 function + 1));
    std::abort();
  }
  thread_call mine;
  mine.placed_task::run = thread_call::begin;
  mine.call = call;
  mine.argument = argument;
  mine.of = of;
  machine::executor& executor = of->home.owner().executor();
  of->home.place(mine);
  // Not std::atomic::wait(), which yields the processor first, and wakes the threads of other calls, too.
  for (;;) {
    const std::uint32_t now = mine.state.load(std::memory_order_acquire);
    if (now == thread_call::done) return mine.result;
    if (now == thread_call::runs) {
      executor.wait(mine.state, thread_call::runs, machine::k_no_timeout, false);
      continue;
    }
    mine.state.store(thread_call::runs, std::memory_order_relaxed);  // the task waits: nobody else writes it
    mine.asked(mine.asked_argument);
    of->home.place(mine.back);
  }
}

}  // namespace shoal::rank::abi
