// SPDX-License-Identifier: Apache-2.0
// What interrupts a thread, and the classes in which noise is reported: periodic, page fault, scheduling, preemption
// and input/output, as in LTTNG-NOISE (Morari et al.), and unattributed: time that was lost but belongs to no event of
// this kernel (the host of a virtual machine, firmware).
// Who may call: anyone. Never switches tasks. Test: tests/unit/noise/interruptions_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::noise {

enum class noise_class : std::uint8_t { periodic, page_fault, scheduling, preemption, io, unattributed };
inline constexpr std::size_t k_classes = 6;

enum class activity : std::uint8_t {
  timer_interrupt,
  timer_softirq,
  page_fault,
  schedule,           // the scheduler, before it switches
  scheduler_softirq,  // balances the processors' queues
  rcu_softirq,
  reschedule_interrupt,
  call_interrupt,  // another processor asks for a function to be called
  wake_delay,      // the thread could run, and its processor was idle
  preemption,      // another program ran
  own_thread,      // another thread of the same program ran
  device_interrupt,
  network_send_softirq,
  network_receive_softirq,
  block_softirq,
  tasklet_softirq,
  unattributed,
};
inline constexpr std::size_t k_activities = 17;

struct activity_entry {
  std::string_view name;
  noise_class belongs;
};

inline constexpr std::array<activity_entry, k_activities> k_activity_table = {{
    {"timer interrupt", noise_class::periodic},
    {"timer softirq", noise_class::periodic},
    {"page fault", noise_class::page_fault},
    {"schedule", noise_class::scheduling},
    {"scheduler softirq", noise_class::scheduling},
    {"RCU softirq", noise_class::scheduling},
    {"reschedule interrupt", noise_class::scheduling},
    {"call interrupt", noise_class::scheduling},
    {"wake-up delay", noise_class::scheduling},
    {"preemption", noise_class::preemption},
    {"own thread", noise_class::preemption},
    {"device interrupt", noise_class::io},
    {"network send softirq", noise_class::io},
    {"network receive softirq", noise_class::io},
    {"block softirq", noise_class::io},
    {"tasklet softirq", noise_class::io},
    {"unattributed", noise_class::unattributed},
}};

inline constexpr std::array<std::string_view, k_classes> k_class_names = {"periodic",   "page fault", "scheduling",
                                                                          "preemption", "i/o",        "unattributed"};

constexpr std::string_view name_of(activity a) noexcept { return k_activity_table[static_cast<std::size_t>(a)].name; }
constexpr noise_class class_of(activity a) noexcept { return k_activity_table[static_cast<std::size_t>(a)].belongs; }
constexpr std::string_view name_of(noise_class c) noexcept { return k_class_names[static_cast<std::size_t>(c)]; }

}  // namespace shoal::noise
