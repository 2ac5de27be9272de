// SPDX-License-Identifier: Apache-2.0
#include "noise/interruptions.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace shoal::noise {
namespace {

using kind = kernel_mark::kind;

// What follows within this time has the same cause: a softirq runs at the end of the interrupt that raised it.
constexpr std::uint64_t k_at_once_ns = 1000;
// From the end of an interrupt to the switch that it asked for, the scheduler works.
constexpr std::uint64_t k_to_switch_ns = 5000;

bool begins_alone(activity what) {
  switch (what) {
    case activity::timer_interrupt:
    case activity::device_interrupt:
    case activity::reschedule_interrupt:
    case activity::call_interrupt:
    case activity::page_fault: return true;
    default: return false;
  }
}

class finder {
public:
  explicit finder(const noise_question& q) : question_(q), measured_(q.threads) {
    for (const std::int32_t t : measured_) {
      result_.threads.try_emplace(t);
      if (q.running) threads_[t].since_ns = q.begin_ns;
      threads_[t].is = q.running ? state::running : state::unknown;
    }
  }

  noise_record run(std::span<const kernel_mark> marks) {
    for (const kernel_mark& m : marks) take(m);
    for (auto& [thread, t] : threads_) {
      count_time(thread, t, question_.end_ns);
      if (t.is == state::waiting) stop_waiting(thread, t, question_.end_ns);
      emit(t);
    }
    for (const auto& [processor, p] : processors_) result_.unmatched += p.open.size();
    std::ranges::stable_sort(result_.interruptions, {}, &interruption::end_ns);
    return std::move(result_);
  }

private:
  enum class state : std::uint8_t { unknown, running, waiting, blocked };
  struct open_part {
    activity what;
    std::uint32_t detail;
    std::uint64_t begin_ns;
    std::uint64_t nested_ns = 0;
  };
  struct thread_state {
    state is = state::unknown;
    std::uint64_t since_ns = 0;
    std::uint16_t processor = 0;
    std::uint64_t counted_ns = 0;  // waiting: up to here the processor's time has been counted
    interruption pending;          // no parts: none
  };
  struct processor_state {
    std::vector<open_part> open;
    std::int32_t open_thread = 0;
    std::int32_t current = -1;          // -1: not known yet
    std::vector<std::int32_t> waiting;  // measured threads that wait for this processor
  };

  bool is_measured(std::int32_t thread) const { return measured_.contains(thread); }

  void take(const kernel_mark& m) {
    switch (m.is) {
      case kind::enter: enter(m); break;
      case kind::leave: leave(m); break;
      case kind::fault:
        if (is_measured(m.thread)) {
          see_running(m);
          if (processors_[m.processor].open.empty()) begin(m.thread, activity::page_fault, m.time_ns);
          add(m.thread, m.processor, {activity::page_fault, 0, m.time_ns, question_.fault_ns});
        }
        break;
      case kind::switched: switch_to(m); break;
      case kind::woken: wake(m); break;
      case kind::forked:
        if (is_measured(m.thread) && measured_.insert(m.other).second) result_.threads.try_emplace(m.other);
        break;
      case kind::migrated: migrate(m); break;
      case kind::lost:
        result_.lost += m.count;
        result_.unmatched += processors_[m.processor].open.size();
        processors_[m.processor].open.clear();
        break;
    }
  }

  // A thread that executes is on its processor, also when the switch to it was before the beginning.
  void see_running(const kernel_mark& m) {
    thread_state& t = threads_[m.thread];
    if (t.is == state::running) return;
    if (t.is == state::waiting) stop_waiting(m.thread, t, m.time_ns);
    t.since_ns = t.is == state::unknown ? question_.begin_ns : m.time_ns;
    t.is = state::running;
    t.processor = m.processor;
  }

  void enter(const kernel_mark& m) {
    processor_state& p = processors_[m.processor];
    if (is_measured(m.thread)) see_running(m);
    if (p.open.empty()) {
      p.open_thread = m.thread;
      if (is_measured(m.thread)) begin(m.thread, m.what, m.time_ns);
    }
    p.open.push_back({m.what, m.detail, m.time_ns});
  }

  void leave(const kernel_mark& m) {
    processor_state& p = processors_[m.processor];
    if (p.open.empty() || p.open.back().what != m.what) {
      // The rest of what began before the recording did, or its beginning was lost.
      ++result_.unmatched;
      while (!p.open.empty() && p.open.back().what != m.what) p.open.pop_back();
      if (p.open.empty()) return;
    }
    const open_part done = p.open.back();
    p.open.pop_back();
    const std::uint64_t whole = m.time_ns - std::min(m.time_ns, done.begin_ns);
    if (!p.open.empty()) p.open.back().nested_ns += whole;
    if (!is_measured(p.open_thread)) return;
    const std::uint64_t own = whole - std::min(whole, done.nested_ns);
    add(p.open_thread, m.processor, {done.what, done.detail, done.begin_ns, own}, m.time_ns);
  }

  void switch_to(const kernel_mark& m) {
    processor_state& p = processors_[m.processor];
    result_.unmatched += p.open.size();
    p.open.clear();
    program_of_[m.thread] = m.thread_detail;
    for (const std::int32_t w : p.waiting) count_waiting(w, threads_[w], m.thread, m.time_ns);
    p.current = m.other;
    if (is_measured(m.thread)) leave_processor(m);
    if (is_measured(m.other)) {
      thread_state& t = threads_[m.other];
      if (t.is == state::waiting) stop_waiting(m.other, t, m.time_ns);
      t.is = state::running;
      t.since_ns = m.time_ns;
      t.processor = m.processor;
    }
    program_of_[m.other] = m.detail;
  }

  void leave_processor(const kernel_mark& m) {
    thread_state& t = threads_[m.thread];
    see_running(m);
    count_time(m.thread, t, m.time_ns);
    t.processor = m.processor;
    if (!m.runnable) {
      emit(t);
      t.is = state::blocked;
      return;
    }
    if (!t.pending.parts.empty() && m.time_ns - t.pending.end_ns <= k_to_switch_ns && m.time_ns > t.pending.end_ns) {
      t.pending.parts.push_back({activity::schedule, 0, t.pending.end_ns, m.time_ns - t.pending.end_ns});
      t.pending.end_ns = m.time_ns;
    }
    start_waiting(m.thread, t, m.processor, m.time_ns);
  }

  void wake(const kernel_mark& m) {
    if (!is_measured(m.other)) return;
    thread_state& t = threads_[m.other];
    if (t.is == state::running || t.is == state::waiting) return;
    emit(t);
    start_waiting(m.other, t, m.place, m.time_ns);
  }

  void migrate(const kernel_mark& m) {
    if (!is_measured(m.other)) return;
    ++result_.migrations;
    thread_state& t = threads_[m.other];
    if (t.is != state::waiting || t.processor == m.place) return;
    const processor_state& p = processors_[t.processor];
    count_waiting(m.other, t, p.current, m.time_ns);
    std::erase(processors_[t.processor].waiting, m.other);
    t.processor = m.place;
    processors_[m.place].waiting.push_back(m.other);
  }

  void start_waiting(std::int32_t thread, thread_state& t, std::uint16_t processor, std::uint64_t now) {
    t.is = state::waiting;
    t.since_ns = now;
    t.counted_ns = now;
    t.processor = processor;
    processors_[processor].waiting.push_back(thread);
  }

  void stop_waiting(std::int32_t thread, thread_state& t, std::uint64_t now) {
    processor_state& p = processors_[t.processor];
    count_waiting(thread, t, p.current, now);
    std::erase(p.waiting, thread);
    result_.threads[thread].waiting_ns += now - t.since_ns;
    t.is = state::blocked;
    if (!t.pending.parts.empty()) t.pending.end_ns = now;
  }

  // `ran` has had the processor while the thread waited for it.
  void count_waiting(std::int32_t thread, thread_state& t, std::int32_t ran, std::uint64_t now) {
    if (now <= t.counted_ns) return;
    interruption_part part{activity::preemption, 0, t.counted_ns, now - t.counted_ns};
    if (ran == 0 || ran == thread || ran == -1) {
      part.what = activity::wake_delay;
    } else if (is_measured(ran)) {
      part.what = activity::own_thread;
    } else if (const auto at = program_of_.find(ran); at != program_of_.end()) {
      part.detail = at->second;
    }
    t.counted_ns = now;
    begin(thread, part.what, part.begin_ns);
    if (!t.pending.parts.empty()) {
      interruption_part& before = t.pending.parts.back();
      if (before.what == part.what && before.detail == part.detail && before.begin_ns + before.ns == part.begin_ns) {
        before.ns += part.ns;
        t.pending.end_ns = now;
        return;
      }
    }
    add(thread, t.processor, part);
  }

  void count_time(std::int32_t thread, thread_state& t, std::uint64_t now) {
    if (t.is == state::running) result_.threads[thread].running_ns += now - std::min(now, t.since_ns);
  }

  // The outermost part of what comes belongs to the interruption before, or not.
  void begin(std::int32_t thread, activity what, std::uint64_t now) {
    thread_state& t = threads_[thread];
    if (t.pending.parts.empty()) return;
    const bool follows = now <= t.pending.end_ns + k_at_once_ns;
    if (begins_alone(what) || !follows) emit(t);
  }

  void add(std::int32_t thread, std::uint16_t processor, const interruption_part& part) {
    add(thread, processor, part, part.begin_ns + part.ns);
  }
  void add(std::int32_t thread, std::uint16_t processor, const interruption_part& part, std::uint64_t end_ns) {
    if (part.begin_ns + part.ns < question_.begin_ns || part.begin_ns > question_.end_ns) return;
    interruption& p = threads_[thread].pending;
    if (p.parts.empty()) {
      p.thread = thread;
      p.processor = processor;
      p.begin_ns = part.begin_ns;
      p.end_ns = end_ns;
    }
    p.begin_ns = std::min(p.begin_ns, part.begin_ns);
    p.end_ns = std::max(p.end_ns, end_ns);
    p.parts.push_back(part);
  }

  void emit(thread_state& t) {
    if (t.pending.parts.empty()) return;
    std::ranges::stable_sort(t.pending.parts, {}, &interruption_part::begin_ns);
    result_.interruptions.push_back(std::move(t.pending));
    t.pending = {};
  }

  const noise_question& question_;
  std::set<std::int32_t> measured_;
  std::unordered_map<std::int32_t, thread_state> threads_;
  std::unordered_map<std::uint16_t, processor_state> processors_;
  std::unordered_map<std::int32_t, std::uint32_t> program_of_;
  noise_record result_;
};

}  // namespace

std::uint64_t interruption::noise_ns() const noexcept {
  std::uint64_t sum = 0;
  for (const interruption_part& p : parts) sum += p.ns;
  return sum;
}

std::uint64_t noise_record::runnable_ns() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [thread, t] : threads) sum += t.running_ns + t.waiting_ns;
  return sum;
}

noise_record find_interruptions(std::span<const kernel_mark> marks, const noise_question& question) {
  return finder(question).run(marks);
}

}  // namespace shoal::noise
