// SPDX-License-Identifier: Apache-2.0
// Counts the operations that a task waits for: children of a group, pieces of loops, calls on other nodes; and the case
// of one result with one owner, a future's.
// Who may call: see each function; "the waiter" is the task that owns the completion. wait() and wait_for() switch
// tasks, and so does the destructor if anything is outstanding; the others do not.
// Guarantees: the waiter counts what it begins without atomics; one atomic addition per done(). The waiter sees all
// that was written before the done() calls it waited for, and may destroy the completion as soon as it continues.
//   completion calls;  begin_call(calls, node, ...);  calls.wait_and_rethrow();
// Shown by tests/unit/sched/completion_test.cpp, tests/model/join_test.cpp, tests/model/future_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/atomics.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

/// The counting protocol, without the switching: the model test runs it on simulated memory, where an atomic operation
/// may throw to end an execution; so nothing here is noexcept. `Waiter` is whatever
/// done() needs in order to wake; a value-initialized one means that there is no waiter.
template <class Waiter, class Atomics = lockfree::std_atomics>
class completion_count {
public:
  /// Any worker: `n` operations have ended. Returns the waiter if the caller must wake it. The count may be gone when
  /// the waiter is woken, or if there is none to wake.
  Waiter done(std::int64_t n) {
    // Partner: must_block(), after whose subtraction the count is below -k_waiting while operations are missing.
    const std::int64_t before = count_.fetch_add(n, std::memory_order_acq_rel);
    if (before < -k_waiting && before + n >= -k_waiting) return waiter_.read();
    return Waiter{};
  }
  /// An operation that is counted and has not ended: one more. Any worker; for a waiter that waits for all.
  void add_elsewhere() {
    // Relaxed: the caller's own done() comes later, on the same count.
    count_.fetch_add(-1, std::memory_order_relaxed);
  }
  /// The waiter: announces that it waits for `n` operations; true if it must block until done() returns `w`.
  bool must_block(Waiter w, std::int64_t n) {
    waiter_.write(w);
    return count_.fetch_add(-(n + k_waiting), std::memory_order_acq_rel) < n;  // partner: done()
  }
  /// The waiter, after must_block(): takes the announcement of `n` operations back; false if they have ended, and done()
  /// wakes it.
  bool give_up(std::int64_t n) {
    for (std::int64_t seen = count_.load(std::memory_order_relaxed); seen < -k_waiting;) {
      if (!count_.compare_exchange_weak(seen, seen + n + k_waiting, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        continue;  // partner: done()
      waiter_.write(Waiter{});
      return true;
    }
    return false;
  }
  /// The waiter: the wait that must_block() announced is over.
  void end_wait() {
    count_.fetch_add(k_waiting, std::memory_order_relaxed);
    waiter_.write(Waiter{});
  }
  const Waiter& waiter() const { return waiter_.read(); }
  /// While the waiter waits: how many operations it still waits for. A hint.
  std::int64_t missing() const { return -(count_.load(std::memory_order_relaxed) + k_waiting); }

protected:
  // While the waiter waits the count is lower by this, so that done() knows.
  static constexpr std::int64_t k_waiting = std::int64_t{1} << 62;

  // Operations that ended, less those added elsewhere; while the waiter waits, less the number that it waits for.
  // Partners: done() and add_elsewhere() on other workers.
  typename Atomics::template atomic<std::int64_t> count_{0};
  typename Atomics::template plain<Waiter> waiter_{Waiter{}};
};

/// What a completion calls in place of waking a task: run() is called once, on the worker that ends the last operation.
/// It must not wait. It may destroy the completion and the callback.
struct completion_callback {
  using function = void (*)(completion_callback&) noexcept;
  explicit completion_callback(function f) noexcept : run(f) {}
  function run;
};

/// A suspended task or a callback.
class completion_waiter {
public:
  completion_waiter() = default;
  completion_waiter(suspended* task) noexcept  // NOLINT: implicit
      : word_(reinterpret_cast<std::uintptr_t>(task)) {}
  completion_waiter(completion_callback& next) noexcept  // NOLINT: implicit
      : word_(reinterpret_cast<std::uintptr_t>(&next) | k_is_callback) {}

  explicit operator bool() const noexcept { return word_ != 0; }
  void notify() const noexcept {
    if ((word_ & k_is_callback) == 0) return wake(reinterpret_cast<suspended*>(word_));
    auto& next = *reinterpret_cast<completion_callback*>(word_ & ~k_is_callback);
    next.run(next);
  }

private:
  static constexpr std::uintptr_t k_is_callback = 1;
  std::uintptr_t word_ = 0;
};

/// Logs an exception that no wait has thrown; `name`: the name of its task, if it has one.
void report_dropped(const std::exception_ptr& e, const char* name = nullptr) noexcept;

/// Counts outstanding operations, keeps their first failure, and lets one task, or a callback, wait for them.
class completion {
public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;
  /// Waits for outstanding operations; logs a failure that no wait has thrown.
  ~completion() {
    if (begun_ != 0) [[unlikely]]
      wait();
    if (failure_) [[unlikely]]
      report_dropped(failure_);
  }

  /// Waiter, or another task of its worker: `n` operations have begun.
  void add(std::int64_t n = 1) noexcept {
    const tsan_ignore_scope ignore;
    begun_ += n;
  }
  /// An operation that is counted and has not ended adds one more. Any worker; for a waiter that waits for all.
  void add_elsewhere() noexcept;
  /// Waiter only: it has itself executed `n` of the operations that were added.
  void ran_here(std::int64_t n = 1) noexcept { add(-n); }
  /// Any worker: `n` operations have ended. The completion may be gone when it returns.
  void done(std::int64_t n = 1) noexcept;
  /// Any worker, before its done(): an operation has failed. The first failure is kept.
  void fail(std::exception_ptr e) noexcept {
    if (!has_failed_.exchange(true, std::memory_order_acq_rel)) failure_ = std::move(e);
  }
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }

  /// Waiter only: returns when all operations that were added have ended. May switch.
  void wait(wait_kind why = wait_kind::operations) noexcept { wait_for(begun_, why); }
  /// The same; a movable task may continue on another worker.
  void wait_anywhere(wait_kind why = wait_kind::operations) noexcept;
  /// Waiter only: returns when `n`, of those added and not waited for yet, have ended. May switch.
  void wait_for(std::int64_t n, wait_kind why = wait_kind::operations) noexcept;
  /// Waiter only: whether all operations that were added end before the time has passed. May switch.
  bool wait_until(time_limit until);
  /// While the waiter waits, on its worker: how many operations it still waits for.
  std::int64_t missing() const noexcept { return count_.missing(); }
  /// Waiter only: instead of wait(). False if all have ended: then the caller continues itself; otherwise `next` runs
  /// when they have. Nothing may be added from then on but by add_elsewhere().
  [[nodiscard]] bool call_when_done(completion_callback& next) noexcept;
  /// Waiter only, once nothing is outstanding: throws the first failure, if there is one, and forgets it.
  void rethrow() {
    if (failure_) [[unlikely]]
      rethrow_failure();
  }
  void wait_and_rethrow() {
    wait();
    rethrow();
  }
  /// The same without throwing; nullptr if nothing failed.
  std::exception_ptr take_failure() noexcept {
    has_failed_.store(false, std::memory_order_relaxed);
    return std::exchange(failure_, nullptr);
  }

  /// Waiter only: notes that it has come to wait, for the tasks that it runs itself meanwhile to ask.
  void announce(bool waits) noexcept { announced_ = waits; }
  bool announced() const noexcept { return announced_; }
  /// Waiter, or another task of its worker: whether it is waiting, so that only add_elsewhere() still counts.
  bool awaited() const noexcept {
    const tsan_ignore_scope ignore;
    return static_cast<bool>(count_.waiter());
  }
  /// Waiter, or another task of its worker: how many that were added have not been waited for.
  std::int64_t begun() const noexcept {
    const tsan_ignore_scope ignore;
    return begun_;
  }
  bool nothing_begun() const noexcept { return begun() == 0; }

private:
  [[noreturn, gnu::noinline, gnu::cold]] void rethrow_failure();

  std::int64_t begun_ = 0;
  completion_count<completion_waiter> count_;
  std::exception_ptr failure_;
  std::atomic<bool> has_failed_{false};  // partners: fail() on other workers; the first one writes failure_
  bool announced_ = false;
};

/// The completion of one result that has one owner: a future's. One word says who came first, the completer or the
/// owner, and what the owner wants. Why this is not a count: docs/decisions/0012-completion.md.
template <class Atomics = lockfree::std_atomics>
class completion_word {
public:
  // Values of the word: nothing yet, or one of these, or a pointer with a tag.
  static constexpr std::uintptr_t k_nobody = 0;
  static constexpr std::uintptr_t k_done = 1;
  static constexpr std::uintptr_t k_dropped = 2;    // the owner has left without waiting
  static constexpr std::uintptr_t k_waiter = 3;     // tag: the stack that waits
  static constexpr std::uintptr_t k_successor = 4;  // tag: what runs next
  static constexpr std::uintptr_t k_place = 5;      // tag: the stack that is to complete it, which waits or waited
  static constexpr std::uintptr_t k_guest = 6;  // tag: the same, which may be taken back: only the completer follows it
  static constexpr std::uintptr_t k_tags = 7;

  static std::uintptr_t tag_of(std::uintptr_t word) noexcept { return word & k_tags; }
  static std::uintptr_t tagged(const void* p, std::uintptr_t tag) noexcept {
    return reinterpret_cast<std::uintptr_t>(p) | tag;
  }
  template <class T>
  static T* pointer_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<T*>(word & ~k_tags);
  }

  bool is_done() const { return word_.load(std::memory_order_acquire) == k_done; }
  /// For the search for cycles of waits: ordered with the edges between stacks.
  std::uintptr_t look() const { return word_.load(std::memory_order_seq_cst); }

  /// The completer's last access: returns the previous value. Partners: wait(), attach(), drop().
  std::uintptr_t complete() { return word_.exchange(k_done, std::memory_order_seq_cst); }
  /// A completer whose result is not shared yet.
  void complete_unseen() { word_.store(k_done, std::memory_order_relaxed); }

  /// The owner: leaves `mark` (a waiter) unless the result is there. Gives what the word said before; k_done: nothing
  /// was left.
  std::uintptr_t wait(std::uintptr_t mark) {
    for (std::uintptr_t word = look();;) {
      if (word == k_done) return word;
      SHOAL_ASSERT(word == k_nobody || tag_of(word) == k_place,
                   "two tasks wait for one future; give the second one a future of its own");
      if (replace(word, mark)) return word;
    }
  }
  /// The owner: leaves `mark` (a successor) unless the result is there; false if it is. What the word said is said of
  /// the successor then, which is not shared yet.
  bool attach(std::uintptr_t mark, completion_word& successor) {
    for (std::uintptr_t word = word_.load(std::memory_order_acquire);;) {
      if (word == k_done) return false;
      successor.word_.store(word, std::memory_order_relaxed);
      if (word_.compare_exchange_weak(word, mark, std::memory_order_seq_cst, std::memory_order_acquire)) return true;
    }
  }
  /// A successor that waits for several parts before it is made known to them.
  void attach_unseen(std::uintptr_t mark) { word_.store(mark, std::memory_order_relaxed); }
  /// The owner leaves without waiting; false if the result is there: then the owner destroys it.
  bool drop() {
    for (std::uintptr_t word = word_.load(std::memory_order_acquire); word != k_done;)
      if (word_.compare_exchange_weak(word, k_dropped, std::memory_order_seq_cst, std::memory_order_acquire))
        return true;
    return false;
  }
  /// Replaces `expected` by `mark`, or stores the current value in `expected`; may fail spuriously.
  bool replace(std::uintptr_t& expected, std::uintptr_t mark) {
    return word_.compare_exchange_weak(expected, mark, std::memory_order_seq_cst, std::memory_order_seq_cst);
  }
  /// The owner: takes back the `mark` that it left; false if the completer was faster.
  bool take_back(std::uintptr_t mark, std::uintptr_t before) {
    return word_.compare_exchange_strong(mark, before, std::memory_order_seq_cst, std::memory_order_seq_cst);
  }

protected:
  typename Atomics::template atomic<std::uintptr_t> word_{k_nobody};  // partners: the owner, the completer
};

}  // namespace shoal::detail
