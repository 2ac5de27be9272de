// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/hosting.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/log.hpp"
#include "rank/abi/entry.hpp"
#include "rank/abi/rank_exit.hpp"
#include "runtime/mpi_unhosted.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::rank::abi {
namespace {

// Partners: the thread that calls MPI_Init, and all that call MPI.
std::atomic<rank_state*> the_unhosted{nullptr};
std::unique_ptr<runtime::unhosted_rank> the_job;  // of the thread that calls MPI_Init
std::atomic<bool> unhosted_has_ended{false};
thread_local rank_state* t_rank = nullptr;
thread_local bool t_is_main = false;  // of a program without a host

// A call of a thread, as a task of its rank.
struct thread_call final : sched::placed_task {
  int (*call)(void*) = nullptr;
  void* argument = nullptr;
  rank_state* of = nullptr;
  int result = 0;
  std::atomic<bool> done{false};  // partner: the thread that waits

  static void begin(detail::task& raw) noexcept {
    auto& self = static_cast<thread_call&>(static_cast<sched::placed_task&>(raw));
    self.of->home.begun().local = self.of;
    constexpr std::size_t k_stack_bytes = std::size_t{256} << 10;  // functions of the program may run there
    try {
      self.result = call_with_stack(stack_bytes(k_stack_bytes), [&self] { return self.call(self.argument); });
    } catch (...) {
      self.result = MPI_ERR_NO_MEM;
    }
    self.of->home.begun().local = nullptr;
    self.done.store(true, std::memory_order_release);
    self.done.notify_one();
  }
};

}  // namespace

rank_state* unhosted_rank() noexcept { return the_unhosted.load(std::memory_order_acquire); }
rank_state* rank_of_thread() noexcept { return t_rank != nullptr ? t_rank : unhosted_rank(); }

rank_state& begin_unhosted() {
  the_job = std::make_unique<runtime::unhosted_rank>();
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
                                 "threads of a rank are those that its tasks make with pthread_create or std::thread",
                                 function + 1));
    std::abort();
  }
  thread_call mine;
  mine.run = thread_call::begin;
  mine.call = call;
  mine.argument = argument;
  mine.of = of;
  of->home.place(mine);
  mine.done.wait(false, std::memory_order_acquire);
  return mine.result;
}

namespace {

struct thread_start {
  void* (*body)(void*);
  void* argument;
  rank_state* of;
};

void* begin_thread(void* raw) {
  const std::unique_ptr<thread_start> s(static_cast<thread_start*>(raw));
  t_rank = s->of;
  return s->body(s->argument);
}

}  // namespace
}  // namespace shoal::rank::abi

// Threads that a rank makes know their rank.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*body)(void*), void* argument) {
  using namespace shoal::rank::abi;  // NOLINT: a C function
  using create_function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<create_function*>(dlsym(RTLD_NEXT, "pthread_create"));
  shoal::rank::rank_state* const of = shoal::rank::current_rank();
  if (of == nullptr) return create(thread, attributes, body, argument);
  auto start = std::make_unique<thread_start>(thread_start{body, argument, of});
  const int result = create(thread, attributes, begin_thread, start.get());
  if (result == 0) static_cast<void>(start.release());  // the thread has it
  return result;
}

// exit() in a rank ends the rank.
extern "C" [[gnu::visibility("default"), noreturn]] void exit(int status) noexcept {
  using exit_function = void(int);
  shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me != nullptr && me->exit_to != nullptr) {
    me->exit_to->status = status;
    longjmp(me->exit_to->place, 1);
  }
  reinterpret_cast<exit_function*>(dlsym(RTLD_NEXT, "exit"))(status);
  __builtin_unreachable();
}
