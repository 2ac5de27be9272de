// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/sim_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "base/thread_value.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/activity_thread.hpp"
#include "machine/process.hpp"
#include "machine/reserved_range.hpp"
#include "machine/thread_id.hpp"
#include "net/transports/sim/sim_background.hpp"
#include "net/transports/sim/sim_thread.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/random.hpp"

namespace shoal::net {
namespace {

// The clock of base::now_ns(), and how a fresh thread finds its executor. One simulated machine at a time.
constinit sim_executor* g_simulated = nullptr;

std::uint64_t deadline_of(std::uint64_t now_ps, std::int64_t timeout_ns) noexcept {
  const auto ns = static_cast<std::uint64_t>(timeout_ns);
  return ns > (k_never_ps - now_ps) / k_ps_per_ns ? k_never_ps - 1 : now_ps + ns * k_ps_per_ns;
}

}  // namespace

class sim_executor::handle final : public thread {
public:
  handle(sim_executor& by, sim_thread& of) noexcept : by_(by), of_(&of) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() override { join(); }
  void join() noexcept override {
    sim_thread* const of = std::exchange(of_, nullptr);
    if (of == nullptr) return;
    while (!of->ended) by_.sleep(of, machine::k_no_timeout);
    if (of->ended_waits != 0) by_.drop_ended_waits();
    fiber::forget(of->stack);
    std::erase_if(by_.threads_, [of](const auto& t) { return t.get() == of; });
  }

private:
  sim_executor& by_;
  sim_thread* of_;
};

sim_executor::sim_executor(const sim_clock_options& options)
    : options_(options),
      background_(std::make_unique<background>(*this)),
      owner_(static_cast<int>(machine::thread_id())) {
  SHOAL_ASSERT(g_simulated == nullptr, "a process has one simulated machine at a time");
  for (const base::thread_value* v : base::thread_values()) values_.push_back({v->here(), v->bytes()});
  threads_.push_back(std::make_unique<sim_thread>());
  running_ = threads_.back().get();
  clock_ps_ = &running_->time_ps;
  running_->name = "first";
  running_->number = ++started_;
  enter_node(0);
  fiber::adopt_thread(running_->stack, running_->own_notes);
  if (options_.measured_factor != 0) {
    ps_per_tick_ = 1e6 / base::ticks_per_us() * options_.measured_factor;
    measured_from_ = base::ticks();
  }
  g_simulated = this;
  base::set_clock([]() noexcept { return g_simulated->running_->time_ps / k_ps_per_ns; });
}

sim_executor::~sim_executor() {
  SHOAL_ASSERT(threads_.size() == 1, "threads of a simulated machine end before it");
  base::set_clock(nullptr);
  g_simulated = nullptr;
}

// What the simulation itself takes is measured, too, where it is not between two looks; it is little.
void sim_executor::measure() noexcept {
  const std::uint64_t now = base::ticks();
  running_->time_ps += static_cast<std::uint64_t>(static_cast<double>(now - measured_from_) * ps_per_tick_);
  measured_from_ = now;
}

std::uint64_t sim_executor::random() noexcept { return splitmix64::at(options_.seed, ++drawn_); }

std::uint64_t sim_executor::random_part(std::uint64_t of, double at_most) noexcept {
  if (at_most <= 0) return 0;
  constexpr double k_unit = 0x1p-53;
  return static_cast<std::uint64_t>(static_cast<double>(of) * at_most * (static_cast<double>(random() >> 11) * k_unit));
}

void sim_executor::note(std::uint64_t what) noexcept { digest_ = splitmix64::at(digest_, what); }

std::uint64_t sim_executor::now_ns() noexcept {
  spend_ps(options_.costs.clock_ps);  // a loop that waits for a time ends
  if (options_.measured_factor != 0) running_->time_ps += k_ps_per_ns;
  return running_->time_ps / k_ps_per_ns;
}

void sim_executor::charge(machine::work what, std::uint64_t times) noexcept {
  const sim_costs& c = options_.costs;
  switch (what) {
    case machine::work::turn: return spend_ps(times * c.turn_ps);
    case machine::work::iteration: return spend_ps(times * c.iteration_ps);
    case machine::work::write: return spend_ps(times * c.write_ps);
    case machine::work::execute: return spend_ps(times * c.execute_ps);
    case machine::work::copy: return spend_ps(times * c.copy_ps);
    case machine::work::block: return spend_ps(times * c.block_ps);
  }
}

void sim_executor::spend_ns(std::uint64_t ns) noexcept { *clock_ps_ += ns * k_ps_per_ns; }

// Whether there is something to come that is no background activity's.
bool sim_executor::counts(const entry& e) const noexcept { return e.thread == nullptr || !e.thread->is_background; }

void sim_executor::push(std::uint64_t time_ps, sim_thread* of, std::uint64_t wait, lockfree::doorbell<>* bell) {
  queue_.push_back({time_ps, splitmix64::at(options_.seed, ++pushes_), of, wait, bell});
  if (counts(queue_.back())) ++foreground_;
  std::push_heap(queue_.begin(), queue_.end());
}

void sim_executor::ring_at(std::uint64_t time_ps, lockfree::doorbell<>& bell) { push(time_ps, nullptr, 0, &bell); }

void sim_executor::make_ready(sim_thread& t, std::uint64_t time_ps) noexcept {
  t.time_ps = std::max(t.time_ps, time_ps);
  push(t.time_ps, &t, 0, nullptr);
}

void sim_executor::forget_sleeper(sim_thread& t) noexcept {
  const auto found = asleep_.find(t.asleep_on);
  waiters& all = found->second;
  (t.before_asleep != nullptr ? t.before_asleep->next_asleep : all.first) = t.next_asleep;
  (t.next_asleep != nullptr ? t.next_asleep->before_asleep : all.last) = t.before_asleep;
  if (all.first == nullptr) asleep_.erase(found);
  t.next_asleep = t.before_asleep = nullptr;
  t.asleep_on = nullptr;
}

void sim_executor::rouse(sim_thread& t, std::uint64_t time_ps, machine::futex_result how) noexcept {
  forget_sleeper(t);
  t.result = how;
  if (std::exchange(t.has_deadline, false) && how != machine::futex_result::timeout) {
    ++ended_waits_;
    ++t.ended_waits;
    if (!t.is_background) --foreground_;
  }
  make_ready(t, time_ps);
}

int sim_executor::wake_at(const void* word, int count, std::uint64_t time_ps) noexcept {
  int woken = 0;
  for (auto found = asleep_.find(word); found != asleep_.end() && woken < count; found = asleep_.find(word), ++woken) {
    const std::uint64_t delay_ps = options_.costs.wake_delay_ps;
    rouse(*found->second.first, time_ps + delay_ps + random_part(delay_ps, options_.jitter),
          machine::futex_result::woken);
  }
  return woken;
}

// Entries of waits that were ended by a wake-up stay until they are many.
void sim_executor::drop_ended_waits() {
  std::erase_if(queue_, [](const entry& e) {
    if (!is_over(e)) return false;
    e.thread->ended_waits = 0;
    return true;
  });
  std::make_heap(queue_.begin(), queue_.end());
  ended_waits_ = 0;
}

bool sim_executor::is_over(const entry& e) noexcept {
  return e.wait != 0 && (e.thread->wait != e.wait || !e.thread->has_deadline);
}

// The thread that goes on; `running_` is asleep, or in the queue, or has ended.
sim_executor::sim_thread& sim_executor::choose() noexcept {
  constexpr std::size_t k_few = 1024;
  if (ended_waits_ > k_few && ended_waits_ > queue_.size() / 2) drop_ended_waits();
  for (;;) {
    if (queue_.empty()) end_deadlocked("nothing can run any more");  // adds a thread, or does not return
    std::pop_heap(queue_.begin(), queue_.end());
    const entry e = queue_.back();
    queue_.pop_back();
    if (is_over(e)) {
      --ended_waits_;
      --e.thread->ended_waits;
      continue;
    }
    const bool quiet = foreground_ == 0;
    if (counts(e)) --foreground_;
    if (e.bell != nullptr) {
      if (e.bell->ring()) wake_at(&e.bell->word(), 1, e.time_ps);
      continue;
    }
    if (e.wait != 0) {
      rouse(*e.thread, e.time_ps, machine::futex_result::timeout);
      continue;
    }
    if (const std::uint64_t until_ps = held_until(*e.thread, e.time_ps); until_ps != 0) [[unlikely]] {
      if (until_ps != k_never_ps) make_ready(*e.thread, until_ps);
      continue;
    }
    if (quiet && reports_ == nullptr && e.time_ps > latest_ps_ + options_.quiet_limit_ps)
      end_deadlocked("nothing can run any more but background activities");
    return *e.thread;
  }
}

void sim_executor::switch_away() noexcept {
  push(running_->time_ps, running_, 0, nullptr);
  go_on(choose());
}

void sim_executor::go_on(sim_thread& next) noexcept {
  sim_thread& me = *running_;
  if (!me.is_background) latest_ps_ = std::max(latest_ps_, me.time_ps);
  if (!next.is_background) latest_ps_ = std::max(latest_ps_, next.time_ps);
  if (&next == &me) return;
  ++switches_;
  note(next.time_ps ^ (next.number << 48));
  std::byte* mine = me.values.data();
  const std::byte* others = next.values.data();
  for (const values_place& v : values_) {
    std::memcpy(mine, v.at, v.bytes);
    std::memcpy(v.at, others, v.bytes);
    mine += base::thread_value::k_most_bytes;
    others += base::thread_value::k_most_bytes;
  }
  me.error_number = errno;
  running_ = &next;
  clock_ps_ = &next.time_ps;
  find_disturbance();
  if (options_.measured_factor != 0) measured_from_ = base::ticks();
  fiber::release_to(this);  // one at a time: all that a thread has done is before what the next one does
  fiber::forget_bounds(me.stack);
  fiber::switch_to(me.stack, next.stack, *fiber::exception_state_of_this_thread());
  fiber::acquire_from(this);
  errno = me.error_number;
}

void sim_executor::begin() noexcept {
  sim_executor& by = *g_simulated;
  fiber::acquire_from(&by);
  sim_thread& me = *by.running_;
  fiber::arrived(me.stack);
  by.run_to_end(me);
}

void sim_executor::run_to_end(sim_thread& me) noexcept {
  errno = 0;
  const std::size_t page = machine::page_size();
  machine::set_own_stack({me.memory.data() + page, me.memory.size() - page});
  me.body();
  me.body = nullptr;
  account();
  me.ended = true;
  wake_at(&me, static_cast<int>(threads_.size()), me.time_ps);
  go_on(choose());
  std::abort();  // nobody switches to a thread that has ended
}

std::unique_ptr<machine::executor::thread> sim_executor::add(std::string name, std::function<void()> body,
                                                             bool is_background) {
  account();
  auto made = std::make_unique<sim_thread>();
  sim_thread& t = *made;
  t.name = std::move(name);
  t.number = ++started_;
  t.body = std::move(body);
  t.is_background = is_background;
  if (!is_background) t.node = running_->node;
  const std::size_t page = machine::page_size();
  const std::size_t bytes = machine::round_up(options_.stack_bytes, page);
  t.memory = machine::reserved_range(bytes + page, page);
  t.memory.commit(page, bytes);  // the page below it faults
  std::byte* const bottom = t.memory.data() + page;
  fiber::prepare(t.stack, bottom, bottom + bytes, &sim_executor::begin);
  std::byte* value = t.values.data();
  for (const base::thread_value* v : base::thread_values()) {
    v->initialize(value);
    value += base::thread_value::k_most_bytes;
  }
  spend_ps(options_.costs.wake_ps);
  auto result = std::make_unique<handle>(*this, t);
  threads_.push_back(std::move(made));
  make_ready(t, running_->time_ps);
  return result;
}

std::unique_ptr<machine::executor::thread> sim_executor::start_thread(std::string name, std::function<void()> body) {
  return add(std::move(name), std::move(body), running_->is_background);
}

std::unique_ptr<machine::activity_runner> sim_executor::make_runner(std::string name, machine::activity& what) {
  return std::make_unique<machine::activity_thread>(*background_, std::move(name), what);
}

machine::futex_result sim_executor::sleep(const void* on, std::int64_t timeout_ns) noexcept {
  SHOAL_ASSERT(static_cast<int>(machine::thread_id()) == owner_,
               "a thread of the system waits on a simulated machine, whose threads all run in the one that made it");
  sim_thread& me = *running_;
  if (!me.is_background) latest_ps_ = std::max(latest_ps_, me.time_ps);
  ++me.wait;
  me.asleep_on = on;
  me.result = machine::futex_result::woken;
  waiters& all = asleep_[on];
  me.before_asleep = all.last;
  (all.last != nullptr ? all.last->next_asleep : all.first) = &me;
  all.last = &me;
  me.has_deadline = timeout_ns >= 0;
  if (me.has_deadline) push(deadline_of(me.time_ps, timeout_ns), &me, me.wait, nullptr);
  go_on(choose());
  me.slept_until_ps = me.time_ps;
  return me.result;
}

machine::futex_result sim_executor::wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                         std::int64_t timeout_ns, bool) noexcept {
  spend_ps(options_.costs.wait_ps);
  if (word.load() != expected) return machine::futex_result::changed;
  return sleep(&word, timeout_ns);
}

int sim_executor::wake(std::atomic<std::uint32_t>& word, int count, bool) noexcept {
  spend_ps(options_.costs.wake_ps);
  return wake_at(&word, count, running_->time_ps);
}

int sim_executor::wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) {
  constexpr std::int64_t k_between_looks_ns = 1'000'000;
  for (std::int64_t left_ns = timeout_ns;; left_ns -= k_between_looks_ns) {
    if (const int ready = machine::wait_any(descriptors, 0); ready >= 0) return ready;
    if (timeout_ns >= 0 && left_ns <= 0) return -1;
    sleep(&left_ns, timeout_ns < 0 ? k_between_looks_ns : std::min(left_ns, k_between_looks_ns));
  }
}

void sim_executor::yield() noexcept {
  spend_ps(options_.costs.yield_ps);
  if (*clock_ps_ >= dies_at_ps_) [[unlikely]]
    vanish();
  if (options_.measured_factor != 0) running_->time_ps += k_ps_per_ns;
  if (!queue_.empty()) switch_away();
}

void sim_executor::end_deadlocked(const char* why) {
  constexpr std::size_t k_most_named = 40;
  std::string text = fmt::format("simulated machine, at {:.6f} s, seed {}: {}; of {} threads wait:",
                                 static_cast<double>(latest_ps_) * 1e-12, options_.seed, why, threads_.size());
  std::size_t named = 0;
  for (const auto& t : threads_)
    if (!t->ended && t->asleep_on != nullptr && !t->is_background && ++named <= k_most_named) text += " " + t->name;
  if (named > k_most_named) text += fmt::format(" and {} more", named - k_most_named);
  std::size_t acting = 0;
  for (const sim_fault& f : options_.faults)
    if (f.from_ps <= latest_ps_ && f.until_ps > latest_ps_ && ++acting <= k_most_named)
      text += fmt::format("; {}", describe(f));
  text += fmt::format("; run {:016x}", digest_);
  if (reports_ == nullptr) base::write_line("", text);
  const auto leave = [] {
    std::fflush(stdout);  // what the program has printed says where it has come to
    machine::exit_now(base::k_job_failed_status);
  };
  if (!report_ || reports_ != nullptr) leave();
  reports_ = add(
      "report",
      [this, leave] {
        report_();
        leave();
      },
      true);
  threads_.back()->time_ps = latest_ps_;  // waits are shown as long as they were when nothing ran any more
}

}  // namespace shoal::net
