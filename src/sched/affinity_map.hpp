// SPDX-License-Identifier: Apache-2.0
// For a loop that runs repeatedly: which worker ran which block, and the lists from which the workers take blocks in
// the current sweep. A summons is a task placed on a worker; the loop does not wait for a busy worker: others take its
// blocks, and when it starts the summons, it serves the sweep of that moment.
// Who may call: ready(), use, begin(): the caller of a loop; serve(), summon(): workers of the loop. Only serve() may
// switch, if the body does.
// Guarantees: every block of a sweep runs once; the worker that took a block has it on its list in the next sweep. The
// map lives until the partitioner and all placed summonses have released it.
// Tests: tests/unit/sched/partition_test.cpp, tests/stress/loop_test.cpp; the lists: tests/model/block_list_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lockfree/block_list.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/loop.hpp"

namespace shoal::detail {

class affinity_map {
public:
  /// `map`, or a new one in its place if it is for another pool or another number of blocks.
  static affinity_map& ready(affinity_map*& map, sched::pool& pool, std::uint64_t blocks);
  /// For the partitioner and summonses that are over.
  void let_go() noexcept;

  /// Marks the map as in use by one loop.
  class use {
  public:
    explicit use(affinity_map& m) noexcept;
    ~use() { map_.swept_.store(false, std::memory_order_release); }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

  private:
    affinity_map& map_;
  };

  /// Fills the lists and summons all workers but `caller`.
  void begin(local_loop& loop, const loop_parts& parts, const sched::worker& caller) noexcept;
  /// By the caller: runs blocks as worker `me`, its own ones first, until none is left to take.
  void serve(unsigned me) noexcept;
  void summon(unsigned worker) noexcept;

private:
  struct seat {
    lockfree::block_list<> left;
    struct summons final : sched::placed_task {
      affinity_map* map = nullptr;
      unsigned worker = 0;
    } word;
  };

  affinity_map(sched::pool& pool, std::uint64_t blocks);
  void serve_summoned(unsigned me) noexcept;
  bool run_next(unsigned me) noexcept;
  std::uint32_t take(unsigned me) noexcept;

  sched::pool& pool_;
  std::vector<unsigned> worker_of_;   // by block; written by who takes it
  std::vector<std::uint32_t> order_;  // of the blocks, by worker: what the lists' numbers mean
  std::vector<std::uint32_t> starts_;
  std::vector<seat> seats_;
  local_loop* loop_ = nullptr;
  loop_parts parts_{};
  // The sweep whose lists are complete. Partner: take(), which reads other lists of that sweep only.
  std::atomic<lockfree::block_list<>::sweep_number> open_{0};
  std::atomic<bool> swept_{false};        // partner: another loop with the same partitioner
  std::atomic<std::int64_t> holders_{1};  // partners: placed summonses, and the partitioner
};

}  // namespace shoal::detail
