// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_watch.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/worker.hpp"

namespace shoal::runtime {
namespace {

constexpr std::int64_t k_rank_look_ns = 1'000'000'000;
constexpr std::uint64_t k_long_ns = 10'000'000'000;
constexpr std::uint64_t k_stopped_ns = 3'000'000'000;  // since the last look

}  // namespace

rank_watch::rank_watch(const rank::job_ranks& ranks, sched::pool& pool)
    : ranks_(ranks), pool_(pool), workers_(pool.size()), progress_(pool.size()) {
  if (!pool.executor().has_real_clock() || static_cast<unsigned>(ranks.size_here()) <= pool.size()) return;
  runner_ = pool.executor().make_runner("shoal-ranks", *this);
  runner_->start();
}

rank_watch::~rank_watch() {
  if (runner_ != nullptr) runner_->stop();
}

std::int64_t rank_watch::tick() noexcept {
  const std::uint64_t now_ns = pool_.executor().now_ns();
  // A debugger, or a signal, has stopped the process: the ranks could not run either.
  const bool stopped = looked_ns_ != 0 && now_ns - looked_ns_ > k_stopped_ns;
  looked_ns_ = now_ns;
  for (unsigned i = 0; i < pool_.size(); ++i) {
    const sched::worker& w = pool_.at(i);
    const seen now{w.polls.load(std::memory_order_relaxed), w.rests(),
                   progress_[i].count.load(std::memory_order_relaxed), now_ns};
    seen& before = workers_[i];
    const bool asleep = now.rests % 2 != 0;
    if (before.since_ns == 0 || stopped || asleep || now.polls != before.polls || now.rests != before.rests ||
        now.progress != before.progress)
      before = now;
    else if (now_ns - before.since_ns >= k_long_ns)
      reported_ = report(w);
    if (reported_) return machine::k_no_timeout;
  }
  return k_rank_look_ns;
}

// A worker that has run one task for so long will most probably do so while it is looked at.
bool rank_watch::report(const sched::worker& w) const {
  const fiber::tsan_ignore_scope ignore;
  const void* const running = w.local_of_running();
  const rank::rank_state* spins = nullptr;
  int others = 0;
  for (int i = 0; i < ranks_.size_here(); ++i) {
    const rank::rank_state& r = ranks_.at(i);
    if (&r == running)
      spins = &r;
    else if (&r.home == &w && r.stage != rank::life::finalized)
      ++others;
  }
  if (spins == nullptr || others == 0) return false;
  base::write_line(
      "", fmt::format("rank {} has not called MPI for {} s, and {} other {} on its worker; if it waits in "
                      "a loop for memory that another rank changes, let it call MPI_Iprobe there (said once)",
                      spins->world, k_long_ns / 1'000'000'000, others, others == 1 ? "rank waits" : "ranks wait"));
  return true;
}

}  // namespace shoal::runtime
