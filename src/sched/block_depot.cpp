// SPDX-License-Identifier: Apache-2.0
#include "sched/block_depot.hpp"

#include <new>

namespace shoal::sched {
namespace {

using block = block_depot::block;

// The first bytes of a slab.
struct slab_header {
  std::uint32_t blocks;
  std::atomic<std::uint32_t> released{0};  // partners: all workers that release blocks of it
};
constexpr std::size_t k_first_block = 128;
// A little less than the distance of two slabs, so that the allocator's own header fits between them.
constexpr std::size_t k_slab_bytes = block_slab::k_bytes - 64;

slab_header* slab_of(void* at) noexcept {
  return reinterpret_cast<slab_header*>(reinterpret_cast<std::uintptr_t>(at) & ~(block_slab::k_bytes - 1));
}

void release_of(slab_header* slab, std::uint32_t count) noexcept {
  const std::uint32_t blocks = slab->blocks;  // read before the addition: the release of the last block frees the slab
  if (slab->released.fetch_add(count, std::memory_order_acq_rel) + count != blocks) return;
  slab->~slab_header();
  ::operator delete (slab, std::align_val_t{block_slab::k_bytes});
}

}  // namespace

block_depot::~block_depot() {
  for (chain* c = take_all(); c != nullptr;) {
    auto* const next = static_cast<chain*>(c->next.read());
    release(open(c));
    c = next;
  }
}

void block_depot::put(block* first) noexcept {
  if (count_.load(std::memory_order_relaxed) >= k_most_chains) return release(first);
  count_.fetch_add(1, std::memory_order_relaxed);  // partner: take_all()
  block* const rest = first->next;
  auto* const c = ::new (static_cast<void*>(first)) chain;
  c->rest = rest;
  chains_.push(c);
}

block_depot::chain* block_depot::take_all() noexcept {
  auto* const first = static_cast<chain*>(chains_.take_all());
  unsigned taken = 0;
  for (auto* c = first; c != nullptr; c = static_cast<chain*>(c->next.read())) ++taken;
  if (taken != 0) count_.fetch_sub(taken, std::memory_order_relaxed);  // partner: put()
  return first;
}

block* block_depot::open(chain* c) noexcept {
  block* const rest = c->rest;
  auto* const first = ::new (static_cast<void*>(c)) block;
  first->next = rest;
  return first;
}

// Blocks that are used together mostly lie together: one addition for each run of blocks of one slab.
void block_depot::release(block* first) noexcept {
  while (first != nullptr) {
    slab_header* const slab = slab_of(first);
    std::uint32_t run = 0;
    for (; first != nullptr && slab_of(first) == slab; first = first->next) ++run;
    release_of(slab, run);
  }
}

block_slab::~block_slab() {
  const auto left = static_cast<std::uint32_t>(static_cast<std::size_t>(end_ - next_) / block_bytes_);
  if (left != 0) release_of(slab_of(next_), left);
}

block* block_slab::cut(unsigned& count) {
  constexpr unsigned k_most = 32;  // pages are touched only when they are needed
  if (next_ == end_) {
    auto* const memory = static_cast<std::byte*>(::operator new (k_slab_bytes, std::align_val_t{k_bytes}));
    const std::size_t blocks = (k_slab_bytes - k_first_block) / block_bytes_;
    ::new (static_cast<void*>(memory)) slab_header{static_cast<std::uint32_t>(blocks)};
    next_ = memory + k_first_block;
    end_ = next_ + blocks * block_bytes_;
  }
  block* const first = ::new (static_cast<void*>(next_)) block{nullptr};
  block* last = first;
  for (count = 1, next_ += block_bytes_; count < k_most && next_ != end_; ++count, next_ += block_bytes_)
    last = last->next = ::new (static_cast<void*>(next_)) block{nullptr};
  return first;
}

}  // namespace shoal::sched
