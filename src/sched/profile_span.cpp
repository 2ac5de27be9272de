// SPDX-License-Identifier: Apache-2.0
// shoal::profile_span: two readings of a pool's profiler, and an activity between them that samples what runs. Times in
// the profile are the processor's, samples are taken by the executor's clock.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "machine/executor.hpp"
#include "sched/parallelism_series.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"
#include "shoal/profile.hpp"

namespace shoal {
namespace sched {

class profile_span_state final : machine::activity {
public:
  profile_span_state(pool& p, const profile_options& options)
      : pool_(p), options_(options), series_(options.interval_seconds, options.most_samples) {
    static_cast<void>(base::ticks_per_us());
    SHOAL_ASSERT(std::isfinite(options.interval_seconds), "the interval of a profile is a number of seconds, or 0");
    pool_.profiling().start();
    try {
      begun_ = pool_.profiling().read();
      if (options.interval_seconds > 0) {
        start_ns_ = pool_.executor().now_ns();
        sampler_ = pool_.executor().make_runner("shoal-profile", *this);
        sampler_->start();
      }
    } catch (...) {
      pool_.profiling().stop();
      throw;
    }
  }
  profile_span_state(const profile_span_state&) = delete;
  profile_span_state& operator=(const profile_span_state&) = delete;
  ~profile_span_state() {
    sampler_.reset();
    pool_.profiling().stop();
  }

  profile end() {
    if (sampler_ != nullptr) {
      sampler_.reset();
      tick();  // the last samples: the sampler may have had no processor for a while
    }
    const pool_reading now = pool_.profiling().read();
    profile p = profile_between(begun_, now, base::ticks_per_us() * 1e6);
    p.serial_seconds = options_.serial_seconds;
    p.interval_seconds = series_.interval_seconds();
    p.running = series_.running();
    p.offered = series_.offered();
    return p;
  }

private:
  static constexpr double k_ns_per_s = 1e9;

  // Until the next sample.
  std::int64_t left_ns(std::uint64_t now_ns) const noexcept {
    const double passed_ns = static_cast<double>(now_ns - start_ns_);
    return static_cast<std::int64_t>(std::ceil(series_.seconds_to_next() * k_ns_per_s - passed_ns));
  }

  std::int64_t tick() noexcept override {
    const std::uint64_t now_ns = pool_.executor().now_ns();
    if (const std::int64_t left = left_ns(now_ns); left > 0) return left;
    std::size_t offered = 0;
    for (unsigned i = 0; i < pool_.size(); ++i) offered += pool_.at(i).tasks.size_estimate();
    series_.add(static_cast<double>(now_ns - start_ns_) / k_ns_per_s, pool_.profiling().running(),
                static_cast<std::uint32_t>(offered));
    return std::max<std::int64_t>(left_ns(now_ns), 0);
  }

  pool& pool_;
  const profile_options options_;
  pool_reading begun_;
  parallelism_series series_;
  std::uint64_t start_ns_ = 0;  // of the samples
  std::unique_ptr<machine::activity_runner> sampler_;
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
                "more than zero; leave it out if it is not known");
  return profile_span(std::make_unique<sched::profile_span_state>(pool, options));
}

profile_span begin_profile(const profile_options& options) {
  detail::worker_here();
  return begin_profile(sched::this_worker()->owner(), options);
}

}  // namespace shoal
