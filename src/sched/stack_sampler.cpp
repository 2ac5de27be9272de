// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_sampler.hpp"

#include <array>

#include "base/clock.hpp"
#include "machine/call_stack.hpp"

namespace shoal::sched {

stack_sampler::stack_sampler(trace::trace_writer& into, unsigned worker)
    : trace_((machine::prepare_call_stacks(), into)),
      into_(into.samples(worker)),
      last_ns_(base::thread_processor_ns()),
      timer_(look, this, k_period_ns, machine::thread_timer::time::processor) {}

std::uint64_t stack_sampler::look(void* self) noexcept {
  auto& s = *static_cast<stack_sampler*>(self);
  if (s.trace_.is_finished()) return 0;
  std::array<std::uint64_t, trace::stack_sample::k_most_frames> frames;
  const std::size_t depth = machine::interrupted_call_stack(machine::thread_timer::interrupted(), frames);
  const std::uint64_t now = base::thread_processor_ns();
  s.into_.add(std::span(frames).first(depth), now - s.last_ns_);
  s.last_ns_ = now;
  return k_period_ns;
}

}  // namespace shoal::sched
