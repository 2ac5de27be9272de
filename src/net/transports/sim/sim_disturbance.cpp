// SPDX-License-Identifier: Apache-2.0
// What disturbs the threads of a simulated machine: interruptions in time that they compute, and stops of their nodes.
#include <algorithm>
#include <utility>

#include "net/transports/sim/sim_executor.hpp"
#include "net/transports/sim/sim_thread.hpp"

namespace shoal::net {

void sim_executor::enter_node(std::uint32_t node) noexcept {
  running_->node = node;
  running_->next_fault = 0;
  static_cast<void>(next_fault(*running_, *clock_ps_));  // what has ended has passed
  find_disturbance();
}

// The next fault of the node of a thread that ends after a time; nullptr: none.
const sim_fault* sim_executor::next_fault(sim_thread& t, std::uint64_t after_ps) noexcept {
  const auto& all = options_.faults;
  for (; t.next_fault < all.size(); ++t.next_fault) {
    const sim_fault& f = all[t.next_fault];
    if (!f.is_of_link() && f.node == t.node && f.until_ps > after_ps) return &f;
  }
  return nullptr;
}

// Until when the thread, which does not run, cannot go on at that time; 0: it can. What has ended before it has slept
// through.
std::uint64_t sim_executor::held_until(sim_thread& t, std::uint64_t time_ps) noexcept {
  const sim_fault* const f = next_fault(t, time_ps);
  if (f == nullptr || f->from_ps > time_ps) return 0;
  if (f->until_ps != k_never_ps) ++t.next_fault;
  return f->until_ps;
}

void sim_executor::find_disturbance() noexcept {
  sim_thread& me = *running_;
  const sim_fault* const f = next_fault(me, 0);
  dies_at_ps_ = f != nullptr && f->until_ps == k_never_ps ? f->from_ps : k_never_ps;
  disturbed_at_ps_ = std::min(me.interrupt_at_ps, f != nullptr && dies_at_ps_ == k_never_ps ? f->from_ps : k_never_ps);
}

// The node of the running thread does nothing any more.
void sim_executor::vanish() noexcept {
  if (!running_->is_background) latest_ps_ = std::max(latest_ps_, std::min(*clock_ps_, dies_at_ps_));
  go_on(choose());
  std::abort();  // nobody switches to it
}

void sim_executor::catch_up() noexcept {
  sim_thread& me = *running_;
  // What it did after the begin of a stop it does after the end.
  for (const sim_fault* f = next_fault(me, 0); f != nullptr && f->from_ps <= *clock_ps_ && f->until_ps != k_never_ps;
       f = next_fault(me, 0)) {
    *clock_ps_ =
        f->from_ps < me.slept_until_ps ? std::max(*clock_ps_, f->until_ps) : *clock_ps_ + (f->until_ps - f->from_ps);
    ++me.next_fault;
  }
  while (*clock_ps_ >= me.interrupt_at_ps) {
    const std::uint64_t at_ps = std::exchange(me.interrupt_at_ps, k_never_ps);
    const std::uint64_t before_ps = *clock_ps_;
    disturbed_at_ps_ = k_never_ps;
    const std::uint64_t then_ns = me.interrupt(me.interrupt_data);
    const std::uint64_t took_ps = *clock_ps_ - before_ps;
    if (at_ps < me.slept_until_ps) *clock_ps_ = std::max(before_ps, at_ps + took_ps);
    if (then_ns != 0) me.interrupt_at_ps = at_ps + took_ps + then_ns * k_ps_per_ns;
  }
  find_disturbance();
}

class sim_executor::own_interruption final : public interruption {
public:
  own_interruption(sim_executor& by, sim_thread& of) noexcept : by_(by), of_(of) {}
  own_interruption(const own_interruption&) = delete;
  own_interruption& operator=(const own_interruption&) = delete;
  ~own_interruption() override {
    of_.interrupt_at_ps = k_never_ps;
    if (by_.running_ == &of_) by_.find_disturbance();
  }

private:
  sim_executor& by_;
  sim_thread& of_;
};

std::unique_ptr<machine::executor::interruption> sim_executor::interrupt(machine::thread_timer::action act, void* data,
                                                                         std::uint64_t first_ns) {
  sim_thread& me = *running_;
  me.interrupt = act;
  me.interrupt_data = data;
  me.interrupt_at_ps = me.time_ps + first_ns * k_ps_per_ns;
  find_disturbance();
  return std::make_unique<own_interruption>(*this, me);
}

}  // namespace shoal::net
