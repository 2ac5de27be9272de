// SPDX-License-Identifier: Apache-2.0
// The lock in front of an MPI library, with statistics: acquisitions by class and function, waiting times, and how
// often a thread won twice in a row compared with a fair lock. Of MPI it knows only the numbers of the calls.
// Who may call: any thread. enter() blocks as the lock does; a thread that holds the lock must not enter again (see
// holding()). thread_ends() reports a thread that ends while it holds the lock, and releases the lock.
// Guarantees: an uncontended call costs the lock and a few stores, and reads no clock. Only its own thread writes a
// counter; sum() may be called at any time. After a thread has ended only its number of acquisitions is kept
// separately. The arbiter may be destroyed before its threads end. Test: tests/unit/mpi_threads/arbiter_test.cpp.
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

// One thread's counters of one function. Partner of all: sum(), relaxed; it may read values of different moments.
struct call_counters {
  std::atomic<std::uint64_t> calls{0}, acquired[2]{}, waits{0}, waited_ns{0}, longest_ns{0};
};

struct thread_record {
  explicit thread_record(std::size_t calls) : counters(calls) {}
  bool holding = false;
  bool unlocked = false;           // in a call that does not take the lock
  std::atomic<int> inside{-1};     // partner: threads_inside()
  std::uint32_t thread = 0;        // the kernel's thread id
  std::uint64_t number = 0;        // our own number, never reused
  std::size_t earlier = SIZE_MAX;  // index in by_thread, if the thread called, was unregistered, and calls again
  std::vector<call_counters> counters;
};

struct call_sum {
  std::uint64_t calls = 0, acquired[2]{}, waits = 0, waited_ns = 0, longest_ns = 0;
};

struct arbiter_sum {
  std::vector<call_sum> calls;           // indexed by call number
  std::vector<std::uint64_t> by_thread;  // acquisitions
  std::uint64_t contended = 0;           // acquisitions while other threads waited
  std::uint64_t won_again = 0;           // contended acquisitions by the previous owner
  double fair = 0;                       // expected value of won_again with a fair lock
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
  /// Whether the calling thread is in a call of the library, with or without the lock.
  bool within() { return t_seat.owner == this && (t_seat.record->holding || t_seat.record->unlocked); }

  void enter(thread_record& me, int call, unsigned cls) {
    if (!lets_in(cls) || !lock_->try_lock()) wait(me, call, cls);
    count(me, call, cls);
  }
  void leave(thread_record& me) {
    me.holding = false;
    lock_->unlock();
  }

  /// Lets another thread run.
  void give_way() const;
  /// Called after `polls` unsuccessful polls in a row. Returns at once at first: if the other side is running, it answers
  /// within the time of a thread switch. Then yields, because the other side may need this processor.
  void give_way(unsigned polls) const;
  /// How many threads wait for the lock: a snapshot.
  unsigned waiting() const { return waiting_.load(std::memory_order_acquire); }
  bool one_caller() const { return roll_->callers.load(std::memory_order_relaxed) < 2; }

  /// The calling thread ends inside a call: prints a message and releases the lock.
  void thread_ends(thread_record& me);
  /// In a child made by fork(): only the calling thread exists.
  void forked();

  /// "thread 1234 (name) in MPI_Recv", for each other thread that is in a call.
  std::vector<std::string> threads_inside();
  arbiter_sum sum() const;
  std::span<const char* const> names() const { return names_; }

private:
  // The living threads that have called, and the sums of those that have ended. It outlives the arbiter if a thread
  // ends later.
  struct roll {
    explicit roll(std::size_t calls) { past.calls.resize(calls); }
    /// Unregisters a thread. Returns its index in by_thread, if it has one.
    std::size_t ends(const thread_record& record);

    mutable std::mutex mutex;
    std::vector<std::unique_ptr<thread_record>> living;
    arbiter_sum past;
    std::uint64_t registered = 0;
    std::atomic<unsigned> callers{0};  // living.size(). Partner: give_way(), which may read an old value
  };
  // Unregisters the thread when it ends.
  struct farewell {
    arbiter* owner;
    std::shared_ptr<roll> list;
    thread_record* record;
  };
  // The calling thread's registration, read in every call. It has no destructor: a thread may call again after its
  // thread_local objects and keys are destroyed, and then registers again.
  struct seat {
    arbiter* owner;
    thread_record* record;
    farewell* last_words;
    const roll* left;     // the roll from which this thread was unregistered,
    std::size_t earlier;  // and its index there
  };
  static thread_local constinit seat t_seat [[gnu::tls_model("initial-exec")]];
  static void thread_is_over(void* last_words);
  static pthread_key_t key();

  thread_record& register_thread();
  void wait(thread_record& me, int call, unsigned cls);
  bool try_again(unsigned cls);
  /// Polls do not compete with waiting requests. Partner of the load: wait(); an old value does.
  bool lets_in(unsigned cls) const { return cls == k_high || wanted_.load(std::memory_order_relaxed) == 0; }
  void count(thread_record& me, int call, unsigned cls);
  std::string describe(const thread_record& record) const;

  const settings settings_;
  const std::span<const char* const> names_;
  std::unique_ptr<any_lock> lock_;
  // Whether a class tries for a while before it queues. A lock that is handed to a thread that does not run stops all
  // threads until that thread runs. Polls may wait, because the owner's poll makes progress for all threads. Requests
  // queue at once, because the kind of lock defines their order; except with `priority`, which defines that of classes.
  bool queues_late_[2] = {false, true};
  std::atomic<unsigned> waiting_{0};  // partners: count(), waiting(), which read a snapshot
  std::atomic<unsigned> wanted_{0};   // threads that wait in the high class. Partner: lets_in()
  std::uint64_t last_ = 0;            // a thread's number; only the owner of the lock uses this and the next three
  std::uint64_t contended_ = 0, won_again_ = 0;
  double fair_ = 0;
  const std::shared_ptr<roll> roll_;
};

}  // namespace shoal::mpi_threads
