// SPDX-License-Identifier: Apache-2.0
#include "sched/affinity_map.hpp"

#include <algorithm>

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/partition.hpp"

namespace shoal::detail {

affinity_map::affinity_map(sched::pool& pool, std::uint64_t blocks)
    : pool_(pool), worker_of_(blocks), order_(blocks), starts_(pool.size() + 1), seats_(pool.size()) {
  for (std::uint64_t b = 0; b < blocks; ++b) worker_of_[b] = static_cast<unsigned>(b * pool.size() / blocks);
  for (unsigned i = 0; i < pool.size(); ++i) {
    auto& word = seats_[i].word;
    word.map = this;
    word.worker = i;
    word.run = [](task& t) noexcept {
      auto& self = static_cast<seat::summons&>(static_cast<sched::placed_task&>(t));
      affinity_map& m = *self.map;
      const unsigned me = self.worker;
      m.seats_[me].left.told();
      m.serve_summoned(me);
      m.let_go();
    };
  }
}

affinity_map& affinity_map::ready(affinity_map*& map, sched::pool& pool, std::uint64_t blocks) {
  SHOAL_ASSERT(blocks <= lockfree::block_list<>::k_most_blocks, "an affinity_partitioner makes fewer than 2^24 blocks");
  SHOAL_ASSERT(map == nullptr || !map->swept_.load(std::memory_order_acquire),
               "an affinity_partitioner is used by two loops at once; give each its own");
  if (map == nullptr || &map->pool_ != &pool || map->seats_.size() != pool.size() || map->order_.size() != blocks) {
    auto* const fresh = new affinity_map(pool, blocks);
    if (map != nullptr) map->let_go();
    map = fresh;
  }
  return *map;
}

void affinity_map::let_go() noexcept {
  fiber::release_to(this);
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  fiber::acquire_from(this);
  delete this;
}

affinity_map::use::use(affinity_map& m) noexcept : map_(m) {
  SHOAL_ASSERT(!m.swept_.exchange(true, std::memory_order_acquire),
               "an affinity_partitioner is used by two loops at once; give each its own");
}

void affinity_map::begin(local_loop& loop, const loop_parts& parts, const sched::worker& caller) noexcept {
  loop_ = &loop;
  parts_ = parts;
  // Sorted by worker; on a worker ascending.
  std::ranges::fill(starts_, 0);
  for (const unsigned w : worker_of_) ++starts_[w + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (std::uint32_t b = 0; b < worker_of_.size(); ++b) order_[starts_[worker_of_[b]]++] = b;
  // Each start is where the next worker's began.
  const auto number = static_cast<lockfree::block_list<>::sweep_number>(open_.load(std::memory_order_relaxed) + 1);
  for (unsigned i = 0; i < seats_.size(); ++i) seats_[i].left.fill(i == 0 ? 0 : starts_[i - 1], starts_[i], number);
  open_.store(number, std::memory_order_release);  // partner: take()
  for (unsigned i = 0; i < seats_.size(); ++i)
    if (i != caller.index) summon(i);
}

void affinity_map::summon(unsigned worker) noexcept {
  seat& s = seats_[worker];
  if (!s.left.tell()) return;
  holders_.fetch_add(1, std::memory_order_relaxed);
  pool_.at(worker).place(s.word);
}

std::uint32_t affinity_map::take(unsigned me) noexcept {
  const auto number = open_.load(std::memory_order_acquire);  // partner: begin()
  std::uint32_t block = seats_[me].left.take_front();
  while (block == lockfree::block_list<>::k_none) {
    seat* fullest = nullptr;
    std::uint32_t most = 0;
    for (auto& s : seats_)
      if (const std::uint32_t left = s.left.left(number); left > most) {
        most = left;
        fullest = &s;
      }
    if (fullest == nullptr) break;
    block = fullest->left.take_back(number);
  }
  return block;
}

bool affinity_map::run_next(unsigned me) noexcept {
  const std::uint32_t at = take(me);
  if (at == lockfree::block_list<>::k_none) return false;
  const std::uint32_t block = order_[at];
  worker_of_[block] = me;
  run_piece(*loop_, parts_.begin(block), parts_.end(block));
  return true;
}

// Others run before a block is taken, since nobody else could have it while they run.
void affinity_map::serve(unsigned me) noexcept {
  do {
    take_turn(*t_worker);
  } while (run_next(me));
}

// Nobody waits for this task. It must not be left between two blocks, since the pool may end then: it ends, and comes
// again if others must run first.
void affinity_map::serve_summoned(unsigned me) noexcept {
  auto& w = static_cast<sched::worker&>(*t_worker);
  do {
    if (!w.spend_turn() && !w.owner().stopping()) return summon(me);
  } while (run_next(me));
}

}  // namespace shoal::detail

namespace shoal {

affinity_partitioner::~affinity_partitioner() {
  if (map_ != nullptr) map_->let_go();
}

}  // namespace shoal
