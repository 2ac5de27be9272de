// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/arbiter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "machine/futex.hpp"
#include "machine/thread_id.hpp"
#include "shoal/error.hpp"
#include "tools/mpi-threads/packages.hpp"

namespace shoal::mpi_threads {
namespace {

// Only the owning thread writes the counter, so no atomic read-modify-write is needed.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

std::unique_ptr<any_lock> lock_of(const settings& s) {
  lock_options options;
  options.bound = s.bound;
  if (s.lock == "hierarchical") options.packages = packages_of_machine();
  return make_lock(s.lock, parse_wait_kind(s.wait), options);
}

void add_to(arbiter_sum& sum, const thread_record& record) {
  std::uint64_t acquired = 0;
  for (std::size_t i = 0; i < record.counters.size(); ++i) {
    const call_counters& c = record.counters[i];
    call_sum& to = sum.calls[i];
    to.calls += c.calls.load(std::memory_order_relaxed);
    for (unsigned cls : {k_high, k_low}) {
      to.acquired[cls] += c.acquired[cls].load(std::memory_order_relaxed);
      acquired += c.acquired[cls].load(std::memory_order_relaxed);
    }
    to.waits += c.waits.load(std::memory_order_relaxed);
    to.waited_ns += c.waited_ns.load(std::memory_order_relaxed);
    to.longest_ns = std::max(to.longest_ns, c.longest_ns.load(std::memory_order_relaxed));
  }
  if (record.earlier < sum.by_thread.size())
    sum.by_thread[record.earlier] += acquired;
  else if (acquired > 0)
    sum.by_thread.push_back(acquired);
}

}  // namespace

thread_local constinit arbiter::seat arbiter::t_seat{nullptr, nullptr, nullptr, nullptr, SIZE_MAX};

// Destructors of keys run in rounds. A thread that calls MPI in the destructor of another key, or after its
// thread_local objects are destroyed, registers again and is unregistered in the next round. The main thread's record
// stays until the process exits.
pthread_key_t arbiter::key() {
  static const pthread_key_t made = [] {
    pthread_key_t fresh{};
    if (pthread_key_create(&fresh, thread_is_over) != 0)
      throw error(errc::system, "the program uses all keys of thread-specific data (pthread_key_create): none is left");
    return fresh;
  }();
  return made;
}

void arbiter::thread_is_over(void* last_words) {
  const std::unique_ptr<farewell> mine(static_cast<farewell*>(last_words));
  t_seat = {nullptr, nullptr, nullptr, nullptr, SIZE_MAX};
  if (mine->list == nullptr) return;  // in a child made by fork()
  if (mine->record->holding) mine->owner->thread_ends(*mine->record);
  t_seat.earlier = mine->list->ends(*mine->record);
  t_seat.left = mine->list.get();
}

std::size_t arbiter::roll::ends(const thread_record& record) {
  const std::lock_guard guard(mutex);
  const std::size_t known = past.by_thread.size();
  add_to(past, record);
  const std::size_t place = past.by_thread.size() > known ? known : record.earlier;
  std::erase_if(living, [&record](const auto& one) { return one.get() == &record; });
  callers.store(static_cast<unsigned>(living.size()), std::memory_order_relaxed);
  return place;
}

arbiter::arbiter(const settings& s, std::span<const char* const> names)
    : settings_(s), names_(names), lock_(lock_of(s)), roll_(std::make_shared<roll>(names.size())) {
  queues_late_[k_high] = s.lock == "priority";
  key();
}

arbiter::~arbiter() {
  if (t_seat.owner == this) t_seat.owner = nullptr;
}

thread_record& arbiter::register_thread() {
  if (t_seat.last_words != nullptr) thread_is_over(t_seat.last_words);  // registered with another arbiter
  auto fresh = std::make_unique<thread_record>(names_.size());
  fresh->thread = machine::thread_id();
  if (t_seat.left == roll_.get()) fresh->earlier = t_seat.earlier;
  auto last_words = std::make_unique<farewell>(farewell{this, roll_, fresh.get()});
  {
    const std::lock_guard guard(roll_->mutex);
    fresh->number = ++roll_->registered;
    roll_->living.push_back(std::move(fresh));
    roll_->callers.store(static_cast<unsigned>(roll_->living.size()), std::memory_order_relaxed);
  }
  t_seat = {this, last_words->record, last_words.get(), nullptr, SIZE_MAX};
  pthread_setspecific(key(), last_words.release());
  return *t_seat.record;
}

// Tries again, at most `bound` times, so that every wait is as bounded as the lock's.
bool arbiter::try_again(unsigned cls) {
  constexpr unsigned k_pauses = 8;
  for (unsigned attempt = 0; attempt < settings_.bound; ++attempt) {
    attempt < k_pauses ? machine::pause() : machine::yield_processor();
    if (lets_in(cls) && lock_->try_lock()) return true;
  }
  return false;
}

void arbiter::wait(thread_record& me, int call, unsigned cls) {
  if (cls == k_high) wanted_.fetch_add(1, std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_release);  // partner: waiting()
  const std::uint64_t start = base::now_ns();
  if (!(queues_late_[cls] && try_again(cls))) lock_->lock(cls);
  if (cls == k_high) wanted_.fetch_sub(1, std::memory_order_relaxed);
  const std::uint64_t waited = base::now_ns() - start;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  call_counters& c = me.counters[static_cast<std::size_t>(call)];
  add(c.waits, 1);
  add(c.waited_ns, waited);
  if (waited > c.longest_ns.load(std::memory_order_relaxed)) c.longest_ns.store(waited, std::memory_order_relaxed);
}

void arbiter::count(thread_record& me, int call, unsigned cls) {
  me.holding = true;
  add(me.counters[static_cast<std::size_t>(call)].acquired[cls], 1);
  if (const unsigned others = waiting_.load(std::memory_order_relaxed); others > 0) {
    ++contended_;
    won_again_ += last_ == me.number ? 1 : 0;
    fair_ += 1.0 / (others + 1);
  }
  last_ = me.number;
}

void arbiter::give_way() const { machine::yield_processor(); }

void arbiter::give_way(unsigned polls) const {
  constexpr unsigned k_spins_alone = 256;  // about 25 us
  if (polls >= (one_caller() ? std::max(settings_.spins, k_spins_alone) : settings_.spins)) machine::yield_processor();
}

std::string arbiter::describe(const thread_record& record) const {
  const int call = record.inside.load(std::memory_order_relaxed);
  const std::string name = machine::thread_name(record.thread);
  return fmt::format("thread {}{} in {}", record.thread, name.empty() ? "" : " (" + name + ")",
                     call < 0 ? "the program" : std::string("MPI_") + names_[static_cast<std::size_t>(call)]);
}

void arbiter::thread_ends(thread_record& me) {
  fmt::print(
      stderr,
      "shoal mpi-threads: {} ended inside the MPI library while it held the lock; the other threads continue, but the "
      "library did not complete that call\n",
      describe(me));
  me.inside.store(-1, std::memory_order_relaxed);
  leave(me);
}

void arbiter::forked() {
  // The owner of the mutex may not exist in the child: drop this thread's record without locking.
  if (t_seat.last_words != nullptr) t_seat.last_words->list.reset();
}

std::vector<std::string> arbiter::threads_inside() {
  std::vector<std::string> all;
  const thread_record& self = me();
  const std::lock_guard guard(roll_->mutex);
  for (const auto& record : roll_->living) {
    if (record.get() != &self && record->inside.load(std::memory_order_relaxed) >= 0) all.push_back(describe(*record));
  }
  return all;
}

arbiter_sum arbiter::sum() const {
  const std::lock_guard guard(roll_->mutex);
  arbiter_sum s = roll_->past;
  s.contended = contended_;
  s.won_again = won_again_;
  s.fair = fair_;
  for (const auto& record : roll_->living) add_to(s, *record);
  return s;
}

}  // namespace shoal::mpi_threads
