// SPDX-License-Identifier: Apache-2.0
// What a simulated machine keeps of a thread. Internal to sim_executor.
// Threads: the one of the system that runs them all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/thread_value.hpp"
#include "fiber/fiber.hpp"
#include "machine/futex.hpp"
#include "machine/reserved_range.hpp"
#include "machine/thread_timer.hpp"
#include "net/transports/sim/sim_executor.hpp"

namespace shoal::net {

inline constexpr std::uint64_t k_ps_per_ns = 1000;

struct sim_executor::sim_thread {
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t time_ps = 0;
  bool is_background = false;
  bool ended = false;
  const void* asleep_on = nullptr;  // null: it runs, or can run
  std::uint64_t wait = 0;           // the number of its last wait
  bool has_deadline = false;        // of that wait; its entry is in the queue
  std::size_t ended_waits = 0;      // with entries in the queue
  machine::futex_result result = machine::futex_result::woken;
  std::optional<std::uint32_t> node;
  std::size_t next_fault = 0;  // of options().faults; earlier ones have passed, or are not its node's
  std::uint64_t interrupt_at_ps = k_never_ps;
  std::uint64_t slept_until_ps = 0;
  machine::thread_timer::action interrupt = nullptr;
  void* interrupt_data = nullptr;
  sim_thread* next_asleep = nullptr;  // on the same word
  sim_thread* before_asleep = nullptr;

  fiber::fiber stack;
  fiber::stack_notes own_notes;  // of the first thread
  machine::reserved_range memory;
  std::function<void()> body;
  int error_number = 0;
  std::array<std::byte, base::thread_value::k_most * base::thread_value::k_most_bytes> values{};
};

}  // namespace shoal::net
