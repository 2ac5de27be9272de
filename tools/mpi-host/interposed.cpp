// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that mean something else in a rank. The programs that this one loads find them here first.
// Threads: those that a rank makes know their rank. Their calls of MPI run on its worker, so a rank that waits for the end
// of one leaves the worker, and while there is one, a rank that waits is not taken for one that nobody can wake.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>

#include "base/log.hpp"
#include "rank/abi/entry.hpp"
#include "sched/pool.hpp"
#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

/// A thread of a rank, for those who wait for its end.
class rank_thread {
public:
  /// Its function has returned, or left in another way.
  void end() noexcept {
    // Release: what it has done comes before its end. Partner: join().
    shoal::detail::suspended* const waits = waits_.exchange(ended(), std::memory_order_acq_rel);
    if (waits != nullptr) shoal::detail::wake(waits);
  }
  /// Returns when it has ended; other tasks run meanwhile. A task, of one at most.
  void await_end(int rank) noexcept {
    shoal::detail::suspended* expected = nullptr;
    const shoal::rank::other_wait note(rank, "pthread_join", "the end of a thread");
    if (waits_.compare_exchange_strong(expected, shoal::detail::this_task(), std::memory_order_acq_rel))
      shoal::detail::leave(shoal::detail::wait_kind::thread, &note);
  }

private:
  static shoal::detail::suspended* ended() noexcept { return reinterpret_cast<shoal::detail::suspended*>(1); }
  std::atomic<shoal::detail::suspended*> waits_{nullptr};  // partners: the thread and who joins it
};

// Those that nobody has joined. A detached one stays until its number is given to another thread.
struct thread_table {
  std::mutex mutex;
  std::map<pthread_t, std::shared_ptr<rank_thread>> all;
};
thread_table& threads() {
  static thread_table table;
  return table;
}

/// Changes how many threads may end a wait of the worker's tasks, there.
struct outside_note final : shoal::sched::errand {
  shoal::sched::worker* at = nullptr;
  int change = 0;

  static void give(shoal::sched::worker& to, int change) {
    auto note = std::make_unique<outside_note>();
    note->run = [](shoal::detail::task& raw) noexcept {
      const std::unique_ptr<outside_note> self(static_cast<outside_note*>(static_cast<shoal::sched::errand*>(&raw)));
      self->at->wait_from_outside(self->change);
    };
    note->at = &to;
    note->change = change;
    to.give_errand(*note.release());
  }
};

struct thread_start {
  void* (*body)(void*);
  void* argument;
  shoal::rank::rank_state* of;
  std::shared_ptr<rank_thread> self;
};

// Ends it also when the thread leaves by pthread_exit() or is cancelled.
struct ending {
  shoal::rank::rank_state& of;
  rank_thread& self;
  ~ending() {
    outside_note::give(of.home, -1);
    libc_of(of).threads.fetch_sub(1, std::memory_order_relaxed);
    self.end();
  }
};

void* begin_thread(void* raw) {
  const std::unique_ptr<thread_start> s(static_cast<thread_start*>(raw));
  shoal::rank::set_thread_rank(s->of);
  if (const rank_libc& mine = libc_of(*s->of); mine.locale.of != nullptr) ::uselocale(mine.locale.of);
  const ending at_end{*s->of, *s->self};
  return s->body(s->argument);
}

}  // namespace

SHOAL_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                                    void* argument) {
  SHOAL_NEXT(pthread_create);
  shoal::rank::rank_state* const task = shoal::rank::current_rank();
  shoal::rank::rank_state* const of = task != nullptr ? task : shoal::rank::thread_rank();
  if (of == nullptr) return pthread_create_next(thread, attributes, body, argument);
  if (!of->home.owner().executor().has_real_clock()) {
    static std::atomic_flag said;
    if (!said.test_and_set())
      shoal::base::warn(
          "rank {} wants a thread, and a simulated machine has none for programs: pthread_create fails "
          "there, in all ranks",
          of->world);
    return EAGAIN;
  }
  libc_of(*of).has_made_threads = true;
  auto self = std::make_shared<rank_thread>();
  auto start = std::make_unique<thread_start>(thread_start{body, argument, of, self});
  thread_table& table = threads();
  const std::lock_guard hold(table.mutex);  // another thread may join it at once
  outside_note::give(of->home, 1);
  libc_of(*of).threads.fetch_add(1, std::memory_order_relaxed);
  const int result = pthread_create_next(thread, attributes, begin_thread, start.get());
  if (result != 0) {
    outside_note::give(of->home, -1);
    libc_of(*of).threads.fetch_sub(1, std::memory_order_relaxed);
    return result;
  }
  static_cast<void>(start.release());  // the thread has it
  table.all[*thread] = std::move(self);
  return 0;
}

// For start_threads.c and start_sleeps.c.
SHOAL_INTERPOSED int shoal_mpi_host_is_alone() { return ranks_here() == 1 ? 1 : 0; }
SHOAL_INTERPOSED int shoal_mpi_host_give_way() {
  shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me == nullptr) return 0;
  const shoal::rank::abi::setting_aside aside(*me, "waiting for a thread");
  me->home.yield();
  return 1;
}

SHOAL_INTERPOSED int pthread_join(pthread_t thread, void** result) {
  SHOAL_NEXT(pthread_join);
  std::shared_ptr<rank_thread> of_rank;
  {
    thread_table& table = threads();
    const std::lock_guard hold(table.mutex);
    if (const auto at = table.all.find(thread); at != table.all.end()) {
      of_rank = std::move(at->second);
      table.all.erase(at);
    }
  }
  if (const auto* const me = shoal::rank::current_rank(); of_rank != nullptr && me != nullptr)
    of_rank->await_end(me->world);
  return pthread_join_next(thread, result);
}
