// SPDX-License-Identifier: Apache-2.0
#include "noise/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/counted.hpp"
#include "noise/advice.hpp"
#include "noise/summary.hpp"

namespace shoal::noise {
namespace {

double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

std::string series_text(const measurement& m) {
  std::string text = fmt::format("{:>9} {:>9} {:>10} {:>9} {:>12} {:>10} {:>12} {:>10}\n", "processor", "seconds",
                                 "lost", "detours", "longest", "kernel", "unattributed", "slower");
  for (const quanta_result& q : m.series) {
    std::uint64_t longest = 0;
    for (const detour& d : q.detours) longest = std::max(longest, d.end_ns - d.begin_ns);
    const lost_shares s = shares_of(q, m.record.interruptions);
    text += fmt::format("{:>9} {:>9.2f} {:>9.4f}% {:>9} {:>12} ", q.processor,
                        static_cast<double>(q.measured_ns()) * 1e-9, s.lost * 100,
                        q.detours.size() + q.detours_left_out, base::described_ns(static_cast<double>(longest)));
    text += m.has_events ? fmt::format("{:>9.4f}% {:>11.4f}%", s.kernel * 100, s.unattributed * 100)
                         : fmt::format("{:>10} {:>12}", "-", "-");
    text += fmt::format(" {:>9.4f}%\n", s.slower * 100);
  }
  return text;
}

std::string event_text(const measurement& m) {
  const auto time = static_cast<double>(m.record.runnable_ns());
  std::string text = fmt::format("{:<34} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "event", "per second", "average",
                                 "p99", "max", "min", "share");
  for (const event_row& row : event_rows(m.record.interruptions)) {
    const auto n = static_cast<double>(row.lengths_ns.size());
    text += fmt::format("{:<34} {:>10.1f} {:>10} {:>10} {:>10} {:>10} {:>8.4f}%\n",
                        describe(row.what, row.detail, m.words), time > 0 ? n / (time * 1e-9) : 0,
                        base::described_ns(row.average_ns()), base::described_ns(static_cast<double>(row.p99_ns())),
                        base::described_ns(static_cast<double>(row.lengths_ns.back())),
                        base::described_ns(static_cast<double>(row.lengths_ns.front())),
                        percent(static_cast<double>(row.total_ns()), time));
  }
  return text;
}

std::string class_text(const measurement& m) {
  class_times times = times_by_class(m.record.interruptions);
  explanation all;
  double measured_ns = 0;
  for (const quanta_result& q : m.series) {
    const explanation e = explained_share(explain(q, m.record.interruptions));
    all.detours_ns += e.detours_ns;
    all.events_ns += e.events_ns;
    all.edges_ns += e.edges_ns;
    all.nothing_ns += e.nothing_ns;
    measured_ns += static_cast<double>(q.measured_ns());
  }
  constexpr auto k_unattributed = static_cast<std::size_t>(noise_class::unattributed);
  times[k_unattributed] += all.nothing_ns;
  const auto time = m.series.empty() ? static_cast<double>(m.record.runnable_ns()) : measured_ns;
  double sum = 0;
  for (const double t : times) sum += t;
  std::string text = fmt::format("{:<14} {:>12} {:>10} {:>10}\n", "class", "time", "of time", "of noise");
  for (std::size_t c = 0; c < k_classes; ++c)
    if (m.series.empty() && c == k_unattributed)  // nobody has measured what a program has lost
      text += fmt::format("{:<14} {:>12} {:>10} {:>10}\n", k_class_names[c], "-", "-", "-");
    else
      text += fmt::format("{:<14} {:>12} {:>9.4f}% {:>9.1f}%\n", k_class_names[c], base::described_ns(times[c]),
                          percent(times[c], time), percent(times[c], sum));
  if (!m.series.empty())
    text += fmt::format(
        "of the detours' time, the kernel's events are {:.1f} %, the way in and out of the kernel "
        "{:.1f} %, and {:.1f} % belong to no event\n",
        percent(all.events_ns, all.detours_ns), percent(all.edges_ns, all.detours_ns),
        percent(all.nothing_ns, all.detours_ns));
  return text;
}

std::string thread_text(const measurement& m) {
  std::string text = fmt::format("{:>9} {:>12} {:>12}\n", "thread", "running", "waiting");
  for (const auto& [thread, t] : m.record.threads)
    text += fmt::format("{:>9} {:>12} {:>12}\n", thread, base::described_ns(static_cast<double>(t.running_ns)),
                        base::described_ns(static_cast<double>(t.waiting_ns)));
  return text;
}

// What everybody may know: interrupts by name, on the measured processors.
std::string count_text(const measurement& m) {
  const double seconds = static_cast<double>(m.end_ns - m.begin_ns) * 1e-9;
  std::string text = fmt::format("{:<34} {:>10}\n", "interrupts and softirqs", "per second");
  if (m.series.empty()) text = "of the whole machine, not of the program alone:\n" + text;
  for (const machine::interrupt_count& one : m.counts.counts) {
    std::uint64_t sum = 0;
    for (std::size_t p = 0; p < one.by_processor.size(); ++p) {
      const bool is_measured =
          m.series.empty() || std::ranges::find(m.series, p, &quanta_result::processor) != m.series.end();
      if (is_measured) sum += one.by_processor[p];
    }
    if (sum > 0 && seconds > 0) text += fmt::format("{:<34} {:>10.1f}\n", one.name, static_cast<double>(sum) / seconds);
  }
  return text;
}

std::string steal_text(const measurement& m) {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : m.counts.steal_ns) sum += one;
  return fmt::format("the host's own account of time that it took (steal, all processors): {}\n",
                     base::described_ns(static_cast<double>(sum)));
}

std::string cost_text(const measurement& m) {
  std::string text = fmt::format("{} events of the kernel", m.marks);
  if (m.mark_ns > 0)
    text += fmt::format(" at {:.0f} ns each: recording took {:.4f} % of the processors' time", m.mark_ns,
                        percent(static_cast<double>(m.marks) * m.mark_ns, m.recorded_ns));
  else
    text += "; what one costs could not be measured here";
  text += fmt::format("; {} lost\n", m.record.lost);
  if (m.record.lost > 0) text += "events were lost: give --ring-mb a larger number; classes are too small\n";
  if (m.record.unmatched > m.record.interruptions.size() / 100 + 16)
    text += fmt::format("{} events have no beginning or no end\n", m.record.unmatched);
  for (const std::string& one : m.missing) text += fmt::format("this kernel does not tell {}\n", one);
  return text;
}

}  // namespace

std::string noise_text(const measurement& m) {
  std::string text;
  if (!m.series.empty()) text += series_text(m) + "\n";
  if (m.has_events) {
    text += class_text(m) + "\n" + event_text(m) + "\n";
    if (m.series.empty())
      text += fmt::format("a page fault is counted as {}, measured on fresh memory: the kernel does not tell its end\n",
                          base::described_ns(static_cast<double>(m.fault_ns))) +
              thread_text(m) + fmt::format("migrations: {}\n", m.record.migrations);
    text += cost_text(m);
  } else {
    text += count_text(m) + "\n";
    text += fmt::format("without the kernel's events: {}\n", m.why_no_events);
  }
  text += steal_text(m);
  const auto advised = advise(m);
  if (!advised.empty()) text += "\nwhat would remove noise, and how much of the time at most\n";
  for (const advice& a : advised) text += fmt::format("{:>8.3f} %  {}\n", a.share * 100, a.text);
  return text;
}

std::string explained_text(const measurement& m, std::size_t most) {
  struct line {
    std::uint64_t ns;
    std::string text;
  };
  std::vector<line> lines;
  const auto at = [&](std::uint64_t t) { return static_cast<double>(t - std::min(t, m.begin_ns)) * 1e-6; };
  for (const quanta_result& q : m.series)
    for (const explained_detour& e : explain(q, m.record.interruptions)) {
      const std::uint64_t ns = e.when.end_ns - e.when.begin_ns;
      lines.push_back(
          {ns, fmt::format("{:>12.3f} ms  processor {:<3} {:>10}  {}", at(e.when.begin_ns), q.processor,
                           base::described_ns(static_cast<double>(ns)),
                           m.has_events ? describe(e.parts, m.words) : "the kernel's events were not recorded")});
    }
  if (m.series.empty())
    for (const interruption& i : m.record.interruptions)
      lines.push_back({i.noise_ns(),
                       fmt::format("{:>12.3f} ms  thread {:<7} {:>10}  {}", at(i.begin_ns), i.thread,
                                   base::described_ns(static_cast<double>(i.noise_ns())), describe(i.parts, m.words))});
  std::ranges::stable_sort(lines, std::greater<>(), &line::ns);
  if (lines.size() > most) lines.resize(most);
  std::string text = "the longest, by when they began\n";
  for (const line& l : lines) text += l.text + "\n";
  return text;
}

std::string raw_text(const measurement& m) {
  std::string text = "kind\tprocessor\tbegin_ns\tns\n";
  for (const quanta_result& q : m.series) {
    for (std::size_t i = 0; i < q.noise_ns.size(); ++i)
      fmt::format_to(std::back_inserter(text), "quantum\t{}\t{}\t{:.0f}\n", q.processor, q.quantum_begin_ns[i],
                     q.noise_ns[i]);
    for (const detour& d : q.detours)
      fmt::format_to(std::back_inserter(text), "detour\t{}\t{}\t{}\n", q.processor, d.begin_ns, d.end_ns - d.begin_ns);
  }
  for (const interruption& i : m.record.interruptions)
    for (const interruption_part& p : i.parts)
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", describe(p.what, p.detail, m.words), i.processor,
                     p.begin_ns, p.ns);
  return text;
}

}  // namespace shoal::noise
