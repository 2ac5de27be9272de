// SPDX-License-Identifier: Apache-2.0
#include "noise/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "machine/page_cost.hpp"
#include "machine/program_end.hpp"
#include "machine/thread_id.hpp"
#include "noise/summary.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

class event_source {
public:
  event_source(const measurement_request& r, std::span<const unsigned> processors, measurement& result)
      : processors_(processors.begin(), processors.end()) {
    if (!r.events) {
      result.why_no_events = "not asked for";
      return;
    }
    try {
      const auto folder = machine::tracepoint_folder::open();
      const auto points = noise_tracepoints(folder, result.missing);
      recorder_ = std::make_unique<machine::kernel_recorder>(points, processors_, r.ring_bytes);
      result.missing.insert(result.missing.end(), recorder_->refused().begin(), recorder_->refused().end());
      result.mark_ns = machine::measure_record_ns(folder);
      result.has_events = true;
    } catch (const error& e) {
      recorder_.reset();
      result.why_no_events = e.what();
    }
  }

  void start() {
    if (recorder_) recorder_->start();
  }
  bool drain() { return recorder_ && recorder_->drain(); }
  void stop() {
    if (recorder_) recorder_->stop();
  }

  std::vector<kernel_mark> marks(word_table& words) {
    std::vector<kernel_mark> all;
    if (!recorder_) return all;
    mark_reader reader(words);
    const auto own = static_cast<std::int32_t>(machine::thread_id());
    const std::uint32_t own_word = words.number_of(k_own_name);
    for (const unsigned p : processors_)
      recorder_->for_each(p, [&](const machine::kernel_record& one) {
        auto m = reader.read(one, p);
        if (!m) return;
        // Others' programs may have the same name.
        if (m->is == kernel_mark::kind::switched && m->other == own) m->detail = own_word;
        if (m->is == kernel_mark::kind::switched && m->thread == own) m->thread_detail = own_word;
        all.push_back(*m);
      });
    std::ranges::stable_sort(all, {}, &kernel_mark::time_ns);
    return all;
  }

private:
  std::vector<unsigned> processors_;
  std::unique_ptr<machine::kernel_recorder> recorder_;
};

// Waits on the calling thread until `is_over(nanoseconds to wait)`, and makes room in the rings meanwhile: more often
// when they fill.
template <class Over>
void wait_and_drain(event_source& events, const measurement_request& r, Over is_over) {
  constexpr std::int64_t k_slow_ns = 200'000'000;
  constexpr std::int64_t k_fast_ns = 10'000'000;
  std::int64_t wait_ns = k_slow_ns;
  const std::uint64_t begin = base::now_ns();
  std::uint64_t said = begin;
  while (!is_over(wait_ns)) {
    wait_ns = events.drain() ? k_fast_ns : std::min(k_slow_ns, wait_ns * 2);
    const std::uint64_t now = base::now_ns();
    if (!r.progress || now - said < 1'000'000'000) continue;
    r.progress(static_cast<double>(now - begin) * 1e-9);
    said = now;
  }
}

void measure_processors(const measurement_request& r, event_source& events, measurement& result) {
  const double quanta = std::max(1.0, std::round(r.seconds * 1e9 / static_cast<double>(r.quantum_ns)));
  constexpr double k_fewest = 20;
  if (quanta < k_fewest)
    throw error(
        errc::invalid_argument,
        fmt::format("{:.0f} quanta are too few to say what is lost; choose shorter ones, or {:g} seconds or more",
                    quanta, k_fewest * static_cast<double>(r.quantum_ns) * 1e-9));
  if (quanta > 1e8)
    throw error(errc::invalid_argument,
                fmt::format("{:.0f} quanta are too many; choose longer ones, or fewer seconds", quanta));
  result.series.resize(r.processors.size());
  std::barrier start(static_cast<std::ptrdiff_t>(r.processors.size()));
  std::atomic<std::size_t> ended = 0;  // partner: the wait below
  std::atomic<bool> stop = false;      // partner: the threads, after each quantum
  std::exception_ptr failed;
  std::mutex failing;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < r.processors.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          quanta_request q;
          q.processor = r.processors[i];
          q.quantum_ns = r.quantum_ns;
          q.quanta = static_cast<std::uint32_t>(quanta);
          q.detour_ns = r.detour_ns;
          q.start = &start;
          q.stop = &stop;
          result.series[i] = r.how == method::fixed_time ? measure_fixed_time(q) : measure_fixed_work(q);
        } catch (...) {
          const std::scoped_lock lock(failing);
          failed = std::current_exception();
          start.arrive_and_drop();
        }
        ended.fetch_add(1, std::memory_order_relaxed);
      });
    wait_and_drain(events, r, [&](std::int64_t ns) {
      const int signals[] = {r.stop != nullptr && !stop.load(std::memory_order_relaxed) ? r.stop->descriptor() : -1};
      if (machine::wait_any(signals, ns) == 0) stop.store(true, std::memory_order_relaxed);
      return ended.load(std::memory_order_relaxed) == threads.size();
    });
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

measurement measure(const measurement_request& r) {
  measurement result;
  result.fault_ns = machine::measure_first_touch_ns();
  const bool of_program = !r.program.empty();
  event_source events(r, of_program ? r.all_processors : r.processors, result);
  noise_question question;
  question.fault_ns = result.fault_ns;
  const auto before = machine::interrupt_counts::now();
  events.start();
  result.begin_ns = machine::kernel_clock_ns();
  if (of_program) {
    machine::spawn_request request;
    request.arguments = r.program;
    request.environment = r.environment;
    machine::child_process program = machine::spawn(request);
    question.threads.insert(program.pid());
    machine::program_end end(program, r.stop);
    wait_and_drain(events, r, [&](std::int64_t ns) { return end.wait(ns); });
    result.program_end = program.reap();
  } else {
    measure_processors(r, events, result);
    for (const quanta_result& one : result.series) question.threads.insert(one.thread);
    question.running = true;
  }
  events.stop();
  result.end_ns = machine::kernel_clock_ns();
  result.recorded_ns = static_cast<double>(result.end_ns - result.begin_ns) *
                       static_cast<double>(of_program ? r.all_processors.size() : r.processors.size());
  result.counts = machine::interrupt_counts::now().since(before);
  question.begin_ns = result.begin_ns;
  question.end_ns = result.end_ns;
  if (!of_program) {
    // Only what happened while the threads counted.
    question.begin_ns = std::ranges::min(result.series, {}, &quanta_result::begin_ns).begin_ns;
    question.end_ns = 0;
    for (const quanta_result& one : result.series)
      question.end_ns = std::max(question.end_ns, one.quantum_begin_ns.back());
    result.begin_ns = question.begin_ns;
    result.end_ns = question.end_ns;
  }
  const std::vector<kernel_mark> marks = events.marks(result.words);
  result.marks = marks.size();
  if (result.has_events) result.record = find_interruptions(marks, question);
  if (result.has_events && !of_program) keep_measured(result.record, result.series);
  return result;
}

}  // namespace shoal::noise
