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
  find_disturbance();
}

// Until when the thread cannot go on at that time, because its node has stopped; 0: it can.
std::uint64_t sim_executor::held_until(sim_thread& t, std::uint64_t time_ps) const noexcept {
  const auto& all = options_.faults;
  for (; t.next_fault < all.size(); ++t.next_fault) {
    const sim_fault& f = all[t.next_fault];
    if (f.is_of_link() || f.node != t.node || f.until_ps <= time_ps) continue;
    return f.from_ps <= time_ps ? f.until_ps : 0;
  }
  return 0;
}

void sim_executor::find_disturbance() noexcept {
  const sim_thread& me = *running_;
  disturbed_at_ps_ = me.interrupt_at_ps;
  if (held_until(*running_, me.time_ps) == k_never_ps) return;  // it gives way soon, and does not come back
  if (me.next_fault < options_.faults.size())
    disturbed_at_ps_ = std::min(disturbed_at_ps_, options_.faults[me.next_fault].from_ps);
}

void sim_executor::catch_up() noexcept {
  sim_thread& me = *running_;
  const auto& all = options_.faults;
  if (me.next_fault < all.size() && all[me.next_fault].from_ps <= *clock_ps_) {
    const sim_fault stop = all[me.next_fault];
    // Its clock has run on: what it did after the begin it does after the end.
    if (stop.until_ps != k_never_ps) {
      ++me.next_fault;
      *clock_ps_ = stop.from_ps < me.slept_until_ps ? std::max(*clock_ps_, stop.until_ps)
                                                    : *clock_ps_ + (stop.until_ps - stop.from_ps);
    }
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
