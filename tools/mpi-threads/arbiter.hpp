// SPDX-License-Identifier: Apache-2.0
// The lock in front of an MPI library, and who waited where: acquisitions by class and function, waiting times, how
// often the same thread won again against what a fair arbiter would give. Knows nothing of MPI but the calls' numbers.
// Who may call: any thread. enter() blocks as the lock does; a thread that is inside must not enter again (ask
// holding()). thread_ends() names a thread that ends inside and lets the others go on.
// Guarantees: uncontended, a call costs the lock, a few stores and no clock. Counters of a thread are written by it
// alone; sum() may be called meanwhile. Of a thread that ended only its number of acquisitions is kept by itself. May
// be gone before its threads. Shown by tests/unit/mpi_threads/arbiter_test.cpp.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "shoal/locks/any_lock.hpp"
#include "tools/mpi-threads/settings.hpp"

namespace shoal::mpi_threads {

inline constexpr unsigned k_high = 0;  // requests
inline constexpr unsigned k_low = 1;   // progress

// One thread's counters of one function. Partner of all: sum(), relaxed, which may see a moment's mixture.
struct call_counters {
  std::atomic<std::uint64_t> calls{0}, acquired[2]{}, waits{0}, waited_ns{0}, longest_ns{0};
};

struct thread_record {
  explicit thread_record(std::size_t calls) : counters(calls) {}
  bool holding = false;
  bool unlocked = false;           // in a call that goes without the lock
  std::atomic<int> inside{-1};     // partner: threads_inside()
  std::uint32_t thread = 0;        // the kernel's number
  std::uint64_t number = 0;        // ours, never given twice
  std::size_t earlier = SIZE_MAX;  // where in by_thread this thread is already: it calls again after its farewell
  std::vector<call_counters> counters;
};

struct call_sum {
  std::uint64_t calls = 0, acquired[2]{}, waits = 0, waited_ns = 0, longest_ns = 0;
};

struct arbiter_sum {
  std::vector<call_sum> calls;           // by number
  std::vector<std::uint64_t> by_thread;  // acquisitions
  std::uint64_t contended = 0;           // acquisitions while others waited
  std::uint64_t won_again = 0;           // of those, by the thread that had it before
  double fair = 0;                       // how many of those a fair arbiter would have given it
  double bias() const { return fair > 0 ? static_cast<double>(won_again) / fair : 0; }
};

class arbiter {
public:
  arbiter(const settings& s, std::span<const char* const> names);
  ~arbiter();
  arbiter(const arbiter&) = delete;
  arbiter& operator=(const arbiter&) = delete;

  thread_record& me() {
    if (t_seat.owner == this) [[likely]]
      return *t_seat.record;
    return register_thread();
  }
  bool holding() { return t_seat.owner == this && t_seat.record->holding; }
  /// In a call of the library, with the lock or without.
  bool within() { return t_seat.owner == this && (t_seat.record->holding || t_seat.record->unlocked); }

  void enter(thread_record& me, int call, unsigned cls) {
    if (!lock_->try_lock()) wait(me, call, cls);
    count(me, call, cls);
  }
  void leave(thread_record& me) {
    me.holding = false;
    lock_->unlock();
  }

  /// So many polls have failed: lets others run, if that is enough. While only one of the living threads has called the
  /// library it stands in nobody's way here, and takes its time.
  void give_way(unsigned polls) const;
  bool one_caller() const { return roll_->callers.load(std::memory_order_relaxed) < 2; }

  /// The thread ends inside a call: said, then the lock is free.
  void thread_ends(thread_record& me);
  /// In a child made by fork(): nobody else is here any more.
  void forked();

  /// "thread 1234 (name) in MPI_Recv", for each thread but this one that is in a call.
  std::vector<std::string> threads_inside();
  arbiter_sum sum() const;
  std::span<const char* const> names() const { return names_; }

private:
  // The threads that called and live, and what was counted of those that ended. Outlives an arbiter that is gone when a
  // thread ends.
  struct roll {
    explicit roll(std::size_t calls) { past.calls.resize(calls); }
    /// Where in by_thread it is from now on, if it is there.
    std::size_t ends(const thread_record& record);

    mutable std::mutex mutex;
    std::vector<std::unique_ptr<thread_record>> living;
    arbiter_sum past;
    std::uint64_t registered = 0;
    std::atomic<unsigned> callers{0};  // living.size(). Partner: give_way(), which may be late
  };
  // Of a thread, given back when it ends.
  struct farewell {
    arbiter* owner;
    std::shared_ptr<roll> list;
    thread_record* record;
  };
  // The calling thread's; looked at in every call. Nothing is destroyed here: a thread may call again after its
  // thread_local objects and those of its keys are gone, and then has a seat anew.
  struct seat {
    arbiter* owner;
    thread_record* record;
    farewell* last_words;
    const roll* left;     // where this thread has been given back,
    std::size_t earlier;  // and its place there
  };
  static thread_local constinit seat t_seat [[gnu::tls_model("initial-exec")]];
  static void thread_is_over(void* last_words);
  static pthread_key_t key();

  thread_record& register_thread();
  void wait(thread_record& me, int call, unsigned cls);
  void count(thread_record& me, int call, unsigned cls);
  std::string describe(const thread_record& record) const;

  const settings settings_;
  const std::span<const char* const> names_;
  std::unique_ptr<any_lock> lock_;
  std::atomic<unsigned> waiting_{0};  // partner: count(), where it is but a snapshot
  std::uint64_t last_ = 0;            // a thread's number; this and the next three: whoever holds the lock
  std::uint64_t contended_ = 0, won_again_ = 0;
  double fair_ = 0;
  const std::shared_ptr<roll> roll_;
};

}  // namespace shoal::mpi_threads
