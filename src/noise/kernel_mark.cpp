// SPDX-License-Identifier: Apache-2.0
#include "noise/kernel_mark.hpp"

#include <algorithm>
#include <array>

namespace shoal::noise {
namespace {

using kind = kernel_mark::kind;

struct point_entry {
  std::string_view name;
  kind is;
  activity what;  // of enter and leave
};

// An interrupt whose end the kernel does not tell is left out: irq_work.
constexpr std::array k_points = {
    point_entry{"irq_vectors:local_timer_entry", kind::enter, activity::timer_interrupt},
    point_entry{"irq_vectors:local_timer_exit", kind::leave, activity::timer_interrupt},
    point_entry{"irq_vectors:reschedule_entry", kind::enter, activity::reschedule_interrupt},
    point_entry{"irq_vectors:reschedule_exit", kind::leave, activity::reschedule_interrupt},
    point_entry{"irq_vectors:call_function_entry", kind::enter, activity::call_interrupt},
    point_entry{"irq_vectors:call_function_exit", kind::leave, activity::call_interrupt},
    point_entry{"irq_vectors:call_function_single_entry", kind::enter, activity::call_interrupt},
    point_entry{"irq_vectors:call_function_single_exit", kind::leave, activity::call_interrupt},
    point_entry{"irq:irq_handler_entry", kind::enter, activity::device_interrupt},
    point_entry{"irq:irq_handler_exit", kind::leave, activity::device_interrupt},
    point_entry{"irq:softirq_entry", kind::enter, activity::tasklet_softirq},
    point_entry{"irq:softirq_exit", kind::leave, activity::tasklet_softirq},
    point_entry{"exceptions:page_fault_user", kind::fault, activity::page_fault},
    point_entry{"sched:sched_switch", kind::switched, activity::preemption},
    point_entry{"sched:sched_wakeup", kind::woken, activity::wake_delay},
    point_entry{"sched:sched_wakeup_new", kind::woken, activity::wake_delay},
    point_entry{"sched:sched_process_fork", kind::forked, activity::preemption},
    point_entry{"sched:sched_migrate_task", kind::migrated, activity::preemption},
};

// By the kernel's numbers: HI, TIMER, NET_TX, NET_RX, BLOCK, IRQ_POLL, TASKLET, SCHED, HRTIMER, RCU.
constexpr std::array k_softirqs = {activity::tasklet_softirq,      activity::timer_softirq,
                                   activity::network_send_softirq, activity::network_receive_softirq,
                                   activity::block_softirq,        activity::block_softirq,
                                   activity::tasklet_softirq,      activity::scheduler_softirq,
                                   activity::timer_softirq,        activity::rcu_softirq};

std::int64_t number(const machine::kernel_record& r, std::string_view field) {
  const machine::tracepoint_field* const f = r.point->field(field);
  return f == nullptr ? 0 : r.number(*f);
}

std::string_view text(const machine::kernel_record& r, std::string_view field) {
  const machine::tracepoint_field* const f = r.point->field(field);
  return f == nullptr ? std::string_view() : r.text(*f);
}

}  // namespace

std::uint32_t word_table::number_of(std::string_view word) {
  if (word.empty()) return 0;
  if (const auto at = numbers_.find(word); at != numbers_.end()) return at->second;
  const auto made = static_cast<std::uint32_t>(words_.size());
  words_.emplace_back(word);
  numbers_.emplace(words_.back(), made);
  return made;
}

std::vector<machine::tracepoint> noise_tracepoints(const machine::tracepoint_folder& folder,
                                                   std::vector<std::string>& missing) {
  std::vector<machine::tracepoint> found;
  for (const point_entry& one : k_points) {
    if (auto p = folder.find(one.name)) {
      found.push_back(std::move(*p));
    } else {
      missing.emplace_back(one.name);
    }
  }
  return found;
}

std::optional<kernel_mark> mark_reader::read(const machine::kernel_record& r, unsigned processor) {
  kernel_mark m;
  m.time_ns = r.time_ns;
  m.processor = static_cast<std::uint16_t>(processor);
  if (r.point == nullptr) {
    m.is = kind::lost;
    m.count = r.lost;
    return m;
  }
  const auto at = std::ranges::find(k_points, std::string_view(r.point->name), &point_entry::name);
  if (at == k_points.end()) return std::nullopt;
  m.is = at->is;
  m.what = at->what;
  m.thread = static_cast<std::int32_t>(number(r, "common_pid"));
  switch (m.is) {
    case kind::enter:
    case kind::leave:
      if (m.what == activity::tasklet_softirq) {
        const auto vector = static_cast<std::size_t>(number(r, "vec"));
        if (vector < k_softirqs.size()) m.what = k_softirqs[vector];
      } else if (m.what == activity::device_interrupt) {
        m.detail = words_.number_of(text(r, "name"));
      }
      break;
    case kind::switched:
      // The lower bits are the reason why it waits; a thread that was preempted has none of them.
      m.runnable = (number(r, "prev_state") & 0xff) == 0;
      m.thread = static_cast<std::int32_t>(number(r, "prev_pid"));
      m.other = static_cast<std::int32_t>(number(r, "next_pid"));
      m.detail = words_.number_of(text(r, "next_comm"));
      m.thread_detail = words_.number_of(text(r, "prev_comm"));
      break;
    case kind::woken:
      m.other = static_cast<std::int32_t>(number(r, "pid"));
      m.place = static_cast<std::uint16_t>(number(r, "target_cpu"));
      break;
    case kind::forked:
      m.thread = static_cast<std::int32_t>(number(r, "parent_pid"));
      m.other = static_cast<std::int32_t>(number(r, "child_pid"));
      break;
    case kind::migrated:
      m.other = static_cast<std::int32_t>(number(r, "pid"));
      m.place = static_cast<std::uint16_t>(number(r, "dest_cpu"));
      break;
    case kind::fault:
    case kind::lost: break;
  }
  return m;
}

}  // namespace shoal::noise
