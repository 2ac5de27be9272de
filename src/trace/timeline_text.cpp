// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/counted.hpp"
#include "trace/flame.hpp"
#include "trace/timeline_output.hpp"

namespace shoal::trace {
namespace {

double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

// Of times of one kind.
struct duration_sum {
  std::uint64_t number = 0;
  double ns = 0;
  double longest_ns = 0;

  template <class Slice>
  void add(const Slice& s) noexcept {
    const auto one = static_cast<double>(s.end_ns - s.begin_ns);
    ++number;
    ns += one;
    longest_ns = std::max(longest_ns, one);
  }
  double average_ns() const noexcept { return number == 0 ? 0 : ns / static_cast<double>(number); }
  std::string columns() const {
    return fmt::format("{:>10} {:>12} {:>12} {:>12}", number, base::described_ns(ns), base::described_ns(average_ns()),
                       base::described_ns(longest_ns));
  }
};

// Those with the most time first.
template <class Sums>
auto by_time(const Sums& sums) {
  std::vector<std::pair<typename Sums::key_type, typename Sums::mapped_type>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& r) { return r.second.ns; });
  return rows;
}

std::string waits_text(const timeline& t) {
  std::map<std::uint32_t, duration_sum> by_reason;
  std::vector<const wait_slice*> all;
  for (const track& one : t.tracks)
    for (const wait_slice& w : one.waits) {
      by_reason[w.why].add(w);
      all.push_back(&w);
    }
  if (all.empty()) return {};
  std::string text = fmt::format("{:<22} {:>10} {:>12} {:>12}\n", "tasks wait for", "waits", "total", "average");
  for (const auto& [why, s] : by_reason)
    text += fmt::format("{:<22} {:>10} {:>12} {:>12}\n", t.words[why], s.number, base::described_ns(s.ns),
                        base::described_ns(s.average_ns()));
  constexpr std::size_t k_longest = 10;
  const std::size_t shown = std::min(k_longest, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(shown), std::greater<>(),
                            [](const wait_slice* w) { return w->end_ns - w->begin_ns; });
  text += "\nlongest waits\n";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{:>12} from {:>12}  {} for {}\n",
                        base::described_ns(static_cast<double>(all[i]->end_ns - all[i]->begin_ns)),
                        base::described_ns(static_cast<double>(all[i]->begin_ns)),
                        all[i]->name == 0 ? "a task" : t.words[all[i]->name], t.words[all[i]->why]);
  return text + "\n";
}

// What tasks have waited for one after the other, by the time that they have waited.
std::string locks_text(const timeline& t) {
  struct of_lock : duration_sum {
    std::uint32_t why = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, of_lock> by_lock;  // node, address
  for (const track& one : t.tracks)
    for (const wait_slice& w : one.waits) {
      if (w.lock == 0) continue;
      of_lock& s = by_lock[{one.node, w.lock}];
      s.add(w);
      s.why = w.why;
    }
  if (by_lock.empty()) return {};
  constexpr std::size_t k_most_rows = 10;
  const auto rows = by_time(by_lock);
  std::string text = fmt::format("{:<46} {:>10} {:>12} {:>12} {:>12}\n", "contended locks and the like", "waits",
                                 "total", "average", "longest");
  for (std::size_t i = 0; i < std::min(rows.size(), k_most_rows); ++i) {
    const auto& [lock, s] = rows[i];
    text += fmt::format("{:<46} {}\n", fmt::format("{} {:#x} on node {}", t.words[s.why], lock.second, lock.first),
                        s.columns());
  }
  if (rows.size() > k_most_rows) text += fmt::format("and {} more\n", rows.size() - k_most_rows);
  return text + "\n";
}

std::string calls_text(const timeline& t) {
  struct of_call : duration_sum {
    double running_ns = 0;
  };
  std::map<std::uint32_t, of_call> by_call;
  for (const track& one : t.tracks) {
    for (const call_slice& c : one.calls) by_call[c.call].add(c);
    for (const slice& s : one.slices)
      if (s.call != 0) by_call[s.call].running_ns += static_cast<double>(s.end_ns - s.begin_ns);
  }
  if (by_call.empty()) return {};
  std::string text = fmt::format("{:<28} {:>10} {:>12} {:>12} {:>12} {:>14}\n", "calls", "number", "total", "average",
                                 "longest", "running in it");
  for (const auto& [call, s] : by_time(by_call))
    text += fmt::format("{:<28} {} {:>14}\n", t.words[call], s.columns(), base::described_ns(s.running_ns));
  return text + "\n";
}

std::string regions_text(const timeline& t) {
  std::map<std::uint32_t, duration_sum> by_name;
  for (const track& one : t.tracks)
    for (const region_slice& r : one.regions) by_name[r.name].add(r);
  if (by_name.empty()) return {};
  std::string text =
      fmt::format("{:<46} {:>10} {:>12} {:>12} {:>12}\n", "regions", "number", "total", "average", "longest");
  for (const auto& [name, s] : by_time(by_name))
    text += fmt::format("{:<46} {}\n", base::shortened_name(t.words[name], 46), s.columns());
  return text + "\n";
}

std::string marks_text(const timeline& t) {
  struct sum {
    std::uint64_t number = 0;
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
  };
  std::map<std::uint32_t, sum> by_name;
  for (const track& one : t.tracks)
    for (const mark_moment& m : one.marks) {
      sum& s = by_name.try_emplace(m.name, sum{0, m.value, m.value, m.at_ns, m.at_ns}).first->second;
      ++s.number;
      s.smallest = std::min(s.smallest, m.value);
      s.largest = std::max(s.largest, m.value);
      s.first_ns = std::min(s.first_ns, m.at_ns);
      s.last_ns = std::max(s.last_ns, m.at_ns);
    }
  if (by_name.empty()) return {};
  std::string text = fmt::format("{:<28} {:>10} {:>12} {:>12} {:>20}\n", "marks", "number", "first", "last", "values");
  for (const auto& [name, s] : by_name)
    text += fmt::format(
        "{:<28} {:>10} {:>12} {:>12} {:>20}\n", base::shortened_name(t.words[name], 28), s.number,
        base::described_ns(static_cast<double>(s.first_ns)), base::described_ns(static_cast<double>(s.last_ns)),
        s.smallest == s.largest ? std::to_string(s.smallest) : fmt::format("{} to {}", s.smallest, s.largest));
  return text + "\n";
}

std::string messages_text(const timeline& t) {
  if (t.messages.empty()) return {};
  constexpr std::uint32_t k_most_shown = 16;
  const std::vector<std::uint64_t> matrix = message_matrix(t);
  double latency = 0;
  std::uint64_t bytes = 0;
  const auto replies = std::ranges::count_if(t.messages, &message::is_reply);
  for (const message& m : t.messages) {
    latency += static_cast<double>(m.received_ns) - static_cast<double>(m.sent_ns);
    bytes += m.bytes;
  }
  std::string text = fmt::format(
      "{} messages, {} of them replies, of {:.0f} bytes on average; executed {} after they were "
      "sent\n",
      t.messages.size(), replies, static_cast<double>(bytes) / static_cast<double>(t.messages.size()),
      base::described_ns(latency / static_cast<double>(t.messages.size())));
  if (t.unmatched_messages > 0)
    text += fmt::format("of {} messages only one end is in the trace\n", t.unmatched_messages);
  if (t.nodes > k_most_shown) return text + "\n";
  text += "KiB from node (down) to node (across)\n      ";
  for (std::uint32_t to = 0; to < t.nodes; ++to) text += fmt::format("{:>10}", to);
  for (std::uint32_t from = 0; from < t.nodes; ++from) {
    text += fmt::format("\n{:>6}", from);
    for (std::uint32_t to = 0; to < t.nodes; ++to)
      text += fmt::format("{:>10.1f}", static_cast<double>(matrix[from * t.nodes + to]) / 1024);
  }
  return text + "\n\n";
}

// What the kernel took, by kind, and how much of it from tasks.
std::string kernel_text(const timeline& t) {
  struct sum {
    std::uint64_t number = 0;
    double ns = 0;
    double in_tasks_ns = 0;
  };
  std::map<std::string, sum> by_kind;
  double time = 0;
  for (const track& one : t.tracks) {
    time += static_cast<double>(t.length_ns);
    auto s = one.slices.begin();
    for (const kernel_slice& k : one.kernel) {
      sum& of = by_kind[t.words[k.name]];
      ++of.number;
      of.ns += static_cast<double>(k.ns);
      while (s != one.slices.end() && s->end_ns <= k.begin_ns) ++s;
      if (s != one.slices.end() && s->begin_ns <= k.begin_ns && s->what == activity::task)
        of.in_tasks_ns += static_cast<double>(k.ns);
    }
  }
  if (by_kind.empty()) return {};
  std::string text =
      fmt::format("{:<34} {:>8} {:>12} {:>12} {:>9}\n", "the kernel took", "times", "total", "from tasks", "of time");
  for (const auto& [name, s] : by_kind)
    text += fmt::format("{:<34} {:>8} {:>12} {:>12} {:>8.3f}%\n", name, s.number, base::described_ns(s.ns),
                        base::described_ns(s.in_tasks_ns), percent(s.ns, time));
  return text + "\n";
}

}  // namespace

double timeline_times::sum() const noexcept {
  double all = 0;
  for (const double one : ns) all += one;
  return all;
}

timeline_times times_of(const timeline& t) {
  timeline_times times;
  for (const track& one : t.tracks)
    for (const slice& s : one.slices)
      times.ns[static_cast<std::size_t>(s.what)] += static_cast<double>(s.end_ns - s.begin_ns);
  return times;
}

std::vector<task_row> task_rows(const timeline& t) {
  std::map<std::uint32_t, task_row> rows;
  for (const track& one : t.tracks)
    for (const slice& s : one.slices) {
      if (s.what != activity::task) continue;
      task_row& r = rows[s.name];
      r.name = s.name;
      ++r.slices;
      r.ns += s.end_ns - s.begin_ns;
      r.longest_ns = std::max(r.longest_ns, s.end_ns - s.begin_ns);
    }
  std::vector<task_row> sorted;
  for (const auto& [name, r] : rows) sorted.push_back(r);
  std::ranges::stable_sort(sorted, std::greater<>(), &task_row::ns);
  return sorted;
}

std::vector<double> parallelism(const timeline& t, std::size_t buckets) {
  std::vector<double> running(buckets, 0);
  const double width = static_cast<double>(t.length_ns) / static_cast<double>(buckets);
  for (const track& one : t.tracks)
    for (const slice& s : one.slices) {
      if (s.what != activity::task) continue;
      auto b = static_cast<std::size_t>(static_cast<double>(s.begin_ns) / width);
      for (; b < buckets && static_cast<double>(b) * width < static_cast<double>(s.end_ns); ++b) {
        const double from = std::max(static_cast<double>(s.begin_ns), static_cast<double>(b) * width);
        const double to = std::min(static_cast<double>(s.end_ns), static_cast<double>(b + 1) * width);
        running[b] += std::max(0.0, to - from) / width;
      }
    }
  return running;
}

std::vector<std::uint64_t> message_matrix(const timeline& t) {
  std::vector<std::uint64_t> bytes(std::size_t{t.nodes} * t.nodes, 0);
  for (const message& m : t.messages)
    bytes[std::size_t{t.tracks[m.from].node} * t.nodes + t.tracks[m.to].node] += m.bytes;
  return bytes;
}

std::string timeline_text(const timeline& t) {
  const timeline_times times = times_of(t);
  std::uint64_t tasks = 0;
  std::uint64_t steals = 0;
  std::uint64_t left_out = 0;
  for (const track& one : t.tracks) {
    tasks += one.tasks;
    steals += one.steals;
    left_out += one.left_out;
  }
  std::string text = fmt::format("{} on {} with {}, {}; {} tasks from queues, {} stolen\n", t.program,
                                 base::counted(t.nodes, "node"), base::counted(t.tracks.size(), "worker"),
                                 base::described_ns(static_cast<double>(t.length_ns)), tasks, steals);
  for (const std::uint32_t n : t.unfinished)
    text += fmt::format("node {} did not end in order: what it did up to there is shown\n", n);
  if (left_out > 0)
    text += fmt::format("{} events are left out, for which there was no room: set trace_events to a larger number\n",
                        left_out);
  constexpr std::array<const char*, k_activities> k_what = {
      "tasks", "the runtime", "looking for work", "messages, without a task", "parked", "not known"};
  text += fmt::format("\n{:<26} {:>12} {:>9}\n", "workers", "time", "share");
  // Shares of what is known.
  const double unknown = times.ns[static_cast<std::size_t>(activity::unknown)];
  for (std::size_t i = 0; i + 1 < k_what.size(); ++i)
    text += fmt::format("{:<26} {:>12} {:>8.2f}%\n", k_what[i], base::described_ns(times.ns[i]),
                        percent(times.ns[i], times.sum() - unknown));
  if (unknown > 0) text += fmt::format("{:<26} {:>12} {:>9}\n", k_what.back(), base::described_ns(unknown), "-");
  text += fmt::format("\n{:<60} {:>10} {:>12} {:>12} {:>12}\n", "tasks", "slices", "total", "average", "longest");
  constexpr std::size_t k_most_rows = 15;
  const std::vector<task_row> rows = task_rows(t);
  for (std::size_t i = 0; i < std::min(rows.size(), k_most_rows); ++i) {
    text += fmt::format("{:<60} {:>10} {:>12} {:>12} {:>12}\n", base::shortened_name(t.words[rows[i].name], 60),
                        rows[i].slices, base::described_ns(static_cast<double>(rows[i].ns)),
                        base::described_ns(static_cast<double>(rows[i].ns) / static_cast<double>(rows[i].slices)),
                        base::described_ns(static_cast<double>(rows[i].longest_ns)));
  }
  if (rows.size() > k_most_rows) text += fmt::format("and {} more\n", rows.size() - k_most_rows);
  text += "\n" + waits_text(t) + locks_text(t) + calls_text(t) + regions_text(t) + marks_text(t) + flame_text(t) +
          kernel_text(t) + messages_text(t);
  return text;
}

}  // namespace shoal::trace
