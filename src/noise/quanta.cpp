// SPDX-License-Identifier: Apache-2.0
#include "noise/quanta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "base/clock.hpp"
#include "machine/thread_id.hpp"
#include "machine/topology.hpp"
#include "machine/tracepoints.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

struct tick_span {
  std::uint64_t begin;
  std::uint64_t end;
};

// The loop that is measured: one look at the clock is one basic operation.
class looker {
public:
  looker(std::uint64_t limit_ticks, std::uint32_t most) : limit_(limit_ticks), spans_(most) {
    std::ranges::fill(spans_, tick_span{1, 1});  // the pages are there
    last_ = base::ticks();
  }

  std::uint64_t until(std::uint64_t end) noexcept {
    std::uint64_t count = 0;
    std::uint64_t now = 0;
    do {
      now = look();
      ++count;
    } while (now < end);
    return count;
  }
  void times(std::uint64_t count) noexcept {
    for (std::uint64_t i = 0; i < count; ++i) look();
  }

  // The detours so far.
  void forget() noexcept { used_ = left_out_ = 0; }
  std::uint64_t last() const noexcept { return last_; }
  std::span<const tick_span> spans() const noexcept { return {spans_.data(), used_}; }
  std::uint64_t left_out() const noexcept { return left_out_; }

private:
  std::uint64_t look() noexcept {
    const std::uint64_t now = base::ticks();
    if (now - last_ > limit_) [[unlikely]] {
      if (used_ < spans_.size()) {
        spans_[used_++] = {last_, now};
      } else {
        ++left_out_;
      }
    }
    last_ = now;
    return now;
  }

  std::uint64_t limit_;
  std::uint64_t last_ = 0;
  std::vector<tick_span> spans_;
  std::size_t used_ = 0;
  std::uint64_t left_out_ = 0;
};

void pin(unsigned processor) {
  if (!machine::pin_this_thread(processor))
    throw error(errc::system,
                fmt::format("processor {} cannot be measured: this process may not run there", processor));
}

bool is_stopped(const quanta_request& r) noexcept {
  return r.stop != nullptr && r.stop->load(std::memory_order_relaxed);
}

// The line between the clocks needs two points with some distance.
clock_pair first_pair() {
  const clock_pair first = clock_pair::now();
  const std::uint64_t until = base::now_ns() + 50'000'000;
  while (base::now_ns() < until) {
  }
  return first;
}

// What both methods need before the first quantum.
struct preparation {
  explicit preparation(const quanta_request& r)
      : early(first_pair()),
        rough(early, clock_pair::now()),
        quantum_ticks(ticks_of(static_cast<double>(r.quantum_ns))),
        look(ticks_of(static_cast<double>(r.detour_ns)), r.most_detours),
        ends(r.quanta + 1, 1) {
    result.processor = r.processor;
    result.thread = static_cast<std::int32_t>(machine::thread_id());
  }

  std::uint64_t ticks_of(double ns) const { return static_cast<std::uint64_t>(ns / rough.ns_per_tick()); }
  void begin(const quanta_request& r) {
    if (r.start != nullptr) r.start->arrive_and_wait();
    look.until(base::ticks() + quantum_ticks);  // the caches are warm
    look.forget();
    ends[0] = look.last();
  }
  // The line between the clocks, now that much time is between its ends.
  void end() {
    const clock_line line(early, clock_pair::now());
    for (const std::uint64_t t : ends) result.quantum_begin_ns.push_back(line.ns(t));
    result.begin_ns = result.quantum_begin_ns.front();
    for (const tick_span& s : look.spans()) result.detours.push_back({line.ns(s.begin), line.ns(s.end)});
    result.detours_left_out = look.left_out();
  }

  quanta_result result;
  clock_pair early;
  clock_line rough;
  std::uint64_t quantum_ticks;
  looker look;
  std::vector<std::uint64_t> ends;
};

struct detours_of_quantum {
  double ns = 0;
  std::uint64_t begun = 0;
};

// The last look ends after the last quantum does.
std::vector<detours_of_quantum> cut_and_divide(quanta_result& r) {
  const std::vector<std::uint64_t>& ends = r.quantum_begin_ns;
  std::vector<detours_of_quantum> of(ends.size() - 1);
  std::erase_if(r.detours, [&](const detour& d) { return d.begin_ns >= ends.back(); });
  for (detour& d : r.detours) {
    d.end_ns = std::min(d.end_ns, ends.back());
    const auto after = static_cast<std::size_t>(std::ranges::upper_bound(ends, d.begin_ns) - ends.begin());
    std::size_t q = after > 0 ? after - 1 : 0;
    ++of[q].begun;
    for (; q < of.size() && ends[q] < d.end_ns; ++q)
      of[q].ns += static_cast<double>(std::min(d.end_ns, ends[q + 1]) - std::max(d.begin_ns, ends[q]));
  }
  return of;
}

}  // namespace

void judge_looks(quanta_result& r, const std::vector<std::uint64_t>& looks) {
  const std::vector<detours_of_quantum> of = cut_and_divide(r);
  const auto length = [&](std::size_t q) {
    return static_cast<double>(r.quantum_begin_ns[q + 1] - r.quantum_begin_ns[q]);
  };
  // The look that a detour is has all of its time in the detour.
  const auto regular = [&](std::size_t q) { return looks[q] - std::min(looks[q], of[q].begun); };
  std::uint64_t most = 1;
  for (std::size_t q = 0; q < looks.size(); ++q) most = std::max(most, regular(q));
  r.operation_ns = std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; q < looks.size(); ++q)
    if (regular(q) * 2 >= most)  // of few looks the one at the quantum's end would weigh too much
      r.operation_ns = std::min(r.operation_ns,
                                (length(q) - of[q].ns) / static_cast<double>(std::max<std::uint64_t>(1, regular(q))));
  r.noise_ns.clear();
  for (std::size_t q = 0; q < looks.size(); ++q)
    r.noise_ns.push_back(std::max(of[q].ns, length(q) - static_cast<double>(regular(q)) * r.operation_ns));
}

void judge_times(quanta_result& r, std::uint64_t work) {
  const std::vector<detours_of_quantum> of = cut_and_divide(r);
  const auto length = [&](std::size_t q) {
    return static_cast<double>(r.quantum_begin_ns[q + 1] - r.quantum_begin_ns[q]);
  };
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; q < of.size(); ++q) fastest_ns = std::min(fastest_ns, length(q) - of[q].ns);
  r.quantum_ns = static_cast<std::uint64_t>(fastest_ns);
  r.operation_ns = fastest_ns / static_cast<double>(work);
  r.noise_ns.clear();
  for (std::size_t q = 0; q < of.size(); ++q) r.noise_ns.push_back(length(q) - fastest_ns);
}

clock_pair clock_pair::now() noexcept {
  clock_pair best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 16; ++i) {  // the one that was least disturbed
    const std::uint64_t before = base::ticks();
    const std::uint64_t ns = machine::kernel_clock_ns();
    const std::uint64_t after = base::ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, ns};
  }
  return best;
}

clock_line::clock_line(const clock_pair& early, const clock_pair& late) noexcept
    : from_(early),
      slope_(late.ticks == early.ticks
                 ? 1
                 : static_cast<double>(late.ns - early.ns) / static_cast<double>(late.ticks - early.ticks)) {}

std::uint64_t clock_line::ns(std::uint64_t ticks) const noexcept {
  const auto distance = static_cast<double>(static_cast<std::int64_t>(ticks - from_.ticks));
  return from_.ns + static_cast<std::uint64_t>(std::llround(distance * slope_));
}

quanta_result measure_fixed_time(const quanta_request& r) {
  const machine::affinity_scope keeps;
  pin(r.processor);
  preparation p(r);
  std::vector<std::uint64_t> counts(r.quanta, 1);
  p.begin(r);
  for (std::uint32_t q = 0; q < r.quanta; ++q) {
    // Each quantum ends at its place in the whole, so that they do not drift.
    const std::uint64_t end = p.ends[0] + (q + 1) * p.quantum_ticks;
    counts[q] = p.look.until(end);
    p.ends[q + 1] = end;
    if (!is_stopped(r)) continue;
    counts.resize(q + 1);
    p.ends.resize(q + 2);
    break;
  }
  p.end();
  p.result.quantum_ns = r.quantum_ns;
  judge_looks(p.result, counts);
  return std::move(p.result);
}

quanta_result measure_fixed_work(const quanta_request& r) {
  const machine::affinity_scope keeps;
  pin(r.processor);
  preparation p(r);
  std::uint64_t work = 1;
  for (int i = 0; i < 5; ++i) work = std::max(work, p.look.until(base::ticks() + p.quantum_ticks));
  p.begin(r);
  for (std::uint32_t q = 0; q < r.quanta; ++q) {
    p.look.times(work);
    p.ends[q + 1] = p.look.last();
    if (!is_stopped(r)) continue;
    p.ends.resize(q + 2);
    break;
  }
  p.end();
  judge_times(p.result, work);
  return std::move(p.result);
}

spectrum spectrum_of(const std::vector<double>& noise_ns, double quantum_ns) {
  spectrum s;
  if (noise_ns.size() < 8 || quantum_ns <= 0) return s;
  const std::size_t length = std::bit_floor(std::min<std::size_t>(noise_ns.size(), 2048));
  s.step_hz = 1e9 / (static_cast<double>(length) * quantum_ns);
  s.power.assign(length / 2 + 1, 0);
  std::vector<double> cosine(length);
  for (std::size_t i = 0; i < length; ++i)
    cosine[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
  const std::size_t pieces = noise_ns.size() / length;
  std::vector<double> piece(length);
  for (std::size_t p = 0; p < pieces; ++p) {
    double mean = 0;
    for (std::size_t i = 0; i < length; ++i) mean += noise_ns[p * length + i] / static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i)  // of Hann: what lies at the ends weighs less
      piece[i] = (noise_ns[p * length + i] - mean) / quantum_ns * (1 - cosine[i]) * std::sqrt(2.0 / 3.0);
    // A few million multiplications: a fast transform would not be noticed.
    for (std::size_t k = 0; k < s.power.size(); ++k) {
      double real = 0;
      double imaginary = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t angle = k * i & (length - 1);
        real += piece[i] * cosine[angle];
        imaginary += piece[i] * cosine[(angle + length - length / 4) & (length - 1)];
      }
      const double n = static_cast<double>(length);
      const double sides = k == 0 || k == length / 2 ? 1 : 2;
      s.power[k] += sides * (real * real + imaginary * imaginary) / (n * n) / static_cast<double>(pieces);
    }
  }
  return s;
}

}  // namespace shoal::noise
