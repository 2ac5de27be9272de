// SPDX-License-Identifier: Apache-2.0
// shoal::profile_span: two readings of a pool's profiler, and a thread between them that looks at what runs.
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "machine/futex.hpp"
#include "sched/parallelism_series.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"
#include "shoal/profile.hpp"

namespace shoal {
namespace sched {

class profile_span_state {
public:
  profile_span_state(pool& p, const profile_options& options)
      : pool_(p), options_(options), series_(options.interval_seconds, options.most_samples) {
    static_cast<void>(base::ticks_per_us());
    SHOAL_ASSERT(std::isfinite(options.interval_seconds), "the interval of a profile is a number of seconds, or 0");
    pool_.profiling().start();
    try {
      begun_ = pool_.profiling().read();
      if (options.interval_seconds > 0) thread_ = std::thread([this] { watch(); });
    } catch (...) {
      pool_.profiling().stop();
      throw;
    }
  }
  profile_span_state(const profile_span_state&) = delete;
  profile_span_state& operator=(const profile_span_state&) = delete;
  ~profile_span_state() {
    stop_watching();
    pool_.profiling().stop();
  }

  profile end() {
    const pool_reading now = pool_.profiling().read();
    stop_watching();
    profile p = profile_between(begun_, now, base::ticks_per_us() * 1e6);
    p.serial_seconds = options_.serial_seconds;
    p.interval_seconds = series_.interval_seconds();
    p.running = series_.running();
    p.offered = series_.offered();
    return p;
  }

private:
  void watch() {
    constexpr double k_ns = 1e9;
    const auto start = static_cast<double>(base::now_ns());
    for (;;) {
      const double next = start + series_.seconds_to_next() * k_ns;
      for (double now = 0; (now = static_cast<double>(base::now_ns())) < next;)
        if (ended_.load(std::memory_order_acquire) != 0 ||
            machine::futex_wait(ended_, 0, static_cast<std::int64_t>(next - now) + 1, false) ==
                machine::futex_result::changed)
          return;
      if (ended_.load(std::memory_order_acquire) != 0) return;
      std::size_t offered = 0;
      for (unsigned i = 0; i < pool_.size(); ++i) offered += pool_.at(i).tasks.size_estimate();
      const double late = (static_cast<double>(base::now_ns()) - start) / k_ns;
      series_.add(late, pool_.profiling().running(), static_cast<std::uint32_t>(offered));
    }
  }

  void stop_watching() {
    if (!thread_.joinable()) return;
    ended_.store(1, std::memory_order_release);  // partner: watch()
    machine::futex_wake(ended_, 1, false);
    thread_.join();
  }

  pool& pool_;
  const profile_options options_;
  pool_reading begun_;
  parallelism_series series_;
  std::atomic<std::uint32_t> ended_{0};
  std::thread thread_;
};

}  // namespace sched

profile_span::profile_span(std::unique_ptr<sched::profile_span_state> state) noexcept : state_(std::move(state)) {}
profile_span::profile_span(profile_span&&) noexcept = default;
profile_span& profile_span::operator=(profile_span&&) noexcept = default;
profile_span::~profile_span() = default;

profile profile_span::end() {
  SHOAL_ASSERT(state_ != nullptr, "this span has ended: it was moved from, or end() was called twice");
  const auto ending = std::move(state_);
  return ending->end();
}

profile_span begin_profile(sched::pool& pool, const profile_options& options) {
  if (options.serial_seconds && !(*options.serial_seconds > 0 && std::isfinite(*options.serial_seconds)))
    throw error(errc::invalid_argument,
                "serial_seconds of a profile is the time that the work takes without tasks, "
                "more than nought; leave it out if it is not known");
  return profile_span(std::make_unique<sched::profile_span_state>(pool, options));
}

profile_span begin_profile(const profile_options& options) {
  detail::worker_here();
  return begin_profile(sched::this_worker()->owner(), options);
}

}  // namespace shoal
