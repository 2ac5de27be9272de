// SPDX-License-Identifier: Apache-2.0
// What interrupts the threads of a simulated machine: in time that they compute.
#include <algorithm>
#include <utility>

#include "net/transports/sim/sim_executor.hpp"
#include "net/transports/sim/sim_thread.hpp"

namespace shoal::net {

void sim_executor::catch_up() noexcept {
  sim_thread& me = *running_;
  while (*clock_ps_ >= interrupt_at_ps_) {
    const std::uint64_t at_ps = std::exchange(interrupt_at_ps_, k_never_ps);
    const std::uint64_t before_ps = *clock_ps_;
    const std::uint64_t then_ns = me.interrupt(me.interrupt_data);
    const std::uint64_t took_ps = *clock_ps_ - before_ps;
    if (at_ps < me.slept_until_ps) *clock_ps_ = std::max(before_ps, at_ps + took_ps);
    if (then_ns != 0) interrupt_at_ps_ = at_ps + took_ps + then_ns * k_ps_per_ns;
  }
}

class sim_executor::own_interruption final : public interruption {
public:
  own_interruption(sim_executor& by, sim_thread& of) noexcept : by_(by), of_(of) {}
  own_interruption(const own_interruption&) = delete;
  own_interruption& operator=(const own_interruption&) = delete;
  ~own_interruption() override {
    of_.interrupt_at_ps = k_never_ps;
    if (by_.running_ == &of_) by_.interrupt_at_ps_ = k_never_ps;
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
  interrupt_at_ps_ = me.time_ps + first_ns * k_ps_per_ns;
  return std::make_unique<own_interruption>(*this, me);
}

}  // namespace shoal::net
