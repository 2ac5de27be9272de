// SPDX-License-Identifier: Apache-2.0
// Names a rank that has kept its worker for itself for long while other ranks of the worker wait: it computes, or it waits
// for memory that another rank is to change, which then never happens. One line per process; the job goes on.
// Who may call: the task that starts the ranks; the destructor waits for a look. One thread, which looks once a second
// at two counters of each worker: ranks pay nothing. None where no worker has several ranks.
// Shown by tests/cluster/mpi_ranks_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/executor.hpp"
#include "rank/rank.hpp"
#include "sched/pool.hpp"

namespace shoal::runtime {

class rank_watch final : machine::activity {
public:
  /// Both must outlive it.
  rank_watch(const rank::job_ranks& ranks, sched::pool& pool);
  ~rank_watch();
  /// A rank of that worker begins or ends: its worker does not stand still. Ranks call it, each on its worker.
  void note_progress(const sched::worker& w) noexcept {
    progress_[w.index].count.fetch_add(1, std::memory_order_relaxed);
  }
  rank_watch(const rank_watch&) = delete;
  rank_watch& operator=(const rank_watch&) = delete;

private:
  struct seen {
    std::uint64_t polls = 0;
    std::uint64_t rests = 0;
    std::uint64_t progress = 0;
    std::uint64_t since_ns = 0;  // that it has had these counts
  };
  std::int64_t tick() noexcept override;
  bool report(const sched::worker& w) const;

  const rank::job_ranks& ranks_;
  sched::pool& pool_;
  std::vector<seen> workers_;
  struct alignas(64) counter {
    std::atomic<std::uint64_t> count{0};  // partner: tick()
  };
  std::vector<counter> progress_;  // by worker
  bool reported_ = false;
  std::uint64_t looked_ns_ = 0;
  std::unique_ptr<machine::activity_runner> runner_;
};

}  // namespace shoal::runtime
