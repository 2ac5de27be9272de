// SPDX-License-Identifier: Apache-2.0
// A worker's free blocks for small tasks: refilling the list, and giving them back at the end of the worker.
#include <utility>

#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {

// A worker takes them all, keeps some and gives the others back.
block_depot::chain* worker::take_chains(block_depot& depot) noexcept {
  block_depot::chain* const first = depot.take_all();
  block_depot::chain* last = first;
  for (unsigned kept = 1; last != nullptr && kept < k_most_kept_chains; ++kept)
    last = static_cast<block_depot::chain*>(last->next.read());
  if (last == nullptr) return first;
  auto* surplus = static_cast<block_depot::chain*>(last->next.read());
  last->next.write(nullptr);
  while (surplus != nullptr) {
    auto* const next = static_cast<block_depot::chain*>(surplus->next.read());
    depot.put(block_depot::open(surplus));
    surplus = next;
  }
  return first;
}

void worker::refill_blocks(bool large) {
  block_list& list = blocks[large];
  if (list.full != nullptr) {
    list.first = std::exchange(list.full, nullptr);
    list.count = k_chain;
    return;
  }
  block_depot::chain*& chains = chains_[large];
  if (chains == nullptr) chains = take_chains(owner_.blocks(large));
  if (chains != nullptr) {
    auto* const next = static_cast<block_depot::chain*>(chains->next.read());
    list.first = block_depot::open(std::exchange(chains, next));
    list.count = k_chain;
    return;
  }
  list.first = block_store::of_size(large ? k_block_bytes : k_small_block_bytes).take(k_chain, list.count);
  if (list.first == nullptr) list.first = slabs_[large].cut(list.count);
}

void worker::drop_blocks() noexcept {
  for (const bool large : {false, true}) {
    block_list& list = blocks[large];
    block_depot::release(std::exchange(list.first, nullptr));
    block_depot::release(std::exchange(list.full, nullptr));
    list.count = 0;
    for (auto* c = std::exchange(chains_[large], nullptr); c != nullptr;) {
      auto* const next = static_cast<block_depot::chain*>(c->next.read());
      block_depot::release(block_depot::open(c));
      c = next;
    }
  }
}

}  // namespace shoal::sched
