// SPDX-License-Identifier: Apache-2.0
#include "noise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "noise/summary.hpp"

namespace shoal::noise {
namespace {

std::string processors_of(const measurement& m) {
  std::string list;
  for (const quanta_result& q : m.series) list += fmt::format("{}{}", list.empty() ? "" : ",", q.processor);
  return list.empty() ? "N" : list;
}

std::string text_of(const event_row& row, const measurement& m) {
  const std::string_view word = m.words.word(row.detail);
  switch (row.what) {
    case activity::timer_interrupt:
    case activity::timer_softirq:
      return fmt::format("the kernel's tick: boot with isolcpus={0} nohz_full={0}, and keep processor 0 for the system",
                         processors_of(m));
    case activity::rcu_softirq: return fmt::format("RCU's callbacks: boot with rcu_nocbs={}", processors_of(m));
    case activity::page_fault:
      return "page faults: touch memory before the work that counts, use 2 MiB pages, and keep freed memory "
             "(MALLOC_TRIM_THRESHOLD_, M_MMAP_THRESHOLD)";
    case activity::schedule:
    case activity::scheduler_softirq:
    case activity::reschedule_interrupt:
    case activity::wake_delay:
      return m.record.migrations > 0
                 ? "the scheduler: pin the program's threads (taskset, shoal's pinning), one on each "
                   "processor"
                 : "the scheduler: fewer threads that wake each other, one on each processor";
    case activity::call_interrupt:
      return "interrupts between processors: fewer threads that change memory mappings (munmap, mprotect) together";
    case activity::own_thread: return "the program's own threads: fewer threads than processors, or more processors";
    case activity::preemption:
      if (word == k_own_name) return {};
      return word.starts_with("kworker") || word.starts_with("ksoftirqd") || word.starts_with("migration") ||
                     word.starts_with("rcu")
                 ? fmt::format("the kernel's thread {}: boot with isolcpus={}", word, processors_of(m))
                 : fmt::format(
                       "the other thread {}: stop its program, or keep it to other processors (taskset, a cpuset)",
                       word);
    case activity::device_interrupt:
      return fmt::format(
          "the device {0}: write other processors into /proc/irq/*/smp_affinity_list, of the number that "
          "/proc/interrupts has for {0}",
          word);
    case activity::network_send_softirq:
    case activity::network_receive_softirq:
      return "the network: steer its queues to other processors (rps_cpus, the interrupts of the device)";
    case activity::block_softirq:
    case activity::tasklet_softirq: return "devices' softirqs: steer their interrupts to other processors";
    case activity::unattributed: break;
  }
  return {};
}

}  // namespace

std::vector<advice> advise(const measurement& m, std::size_t most) {
  const auto time = static_cast<double>(m.record.runnable_ns());
  std::vector<advice> all;
  const auto add = [&](double ns, std::string text) {
    const auto at = std::ranges::find(all, text, &advice::text);
    if (at != all.end()) {
      at->share += ns / time;
    } else if (!text.empty()) {
      all.push_back({ns / time, std::move(text)});
    }
  };
  if (time > 0)
    for (const event_row& row : event_rows(m.record.interruptions))
      add(static_cast<double>(row.total_ns()), text_of(row, m));
  double nothing_ns = 0;
  double measured_ns = 0;
  for (const quanta_result& q : m.series) {
    nothing_ns += explained_share(explain(q, m.record.interruptions)).nothing_ns;
    measured_ns += static_cast<double>(q.measured_ns());
  }
  if (m.has_events && measured_ns > 0)
    all.push_back(
        {nothing_ns / measured_ns,
         "what the kernel does not know (a virtual machine's host, firmware): processors of one's own, and no "
         "power saving"});
  std::erase_if(all, [](const advice& a) { return a.share < 1e-4; });
  std::ranges::stable_sort(all, std::greater<>(), &advice::share);
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace shoal::noise
