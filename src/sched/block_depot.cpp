// SPDX-License-Identifier: Apache-2.0
#include "sched/block_depot.hpp"

#include <new>
#include <utility>

#include "machine/reserved_range.hpp"
#include "shoal/detail/future_state.hpp"

namespace shoal::sched {
namespace {

using block = block_depot::block;

constexpr std::size_t k_first_block = 128;

}  // namespace

// The first bytes of a slab.
struct slab {
  machine::reserved_range memory;
  block_store* home;
  std::uint32_t blocks;
  std::uint32_t free_blocks = 0;
  block* free = nullptr;
  slab* previous = nullptr;  // in the list of the store
  slab* next = nullptr;
};
static_assert(sizeof(slab) <= k_first_block);

namespace {

slab& slab_of(void* at) noexcept {
  return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(at) & ~(block_slab::k_bytes - 1));
}

void destroy(slab& s) noexcept {
  const machine::reserved_range memory = std::move(s.memory);  // which the slab itself lies in
  s.~slab();
}

}  // namespace

block_store& block_store::of_size(std::size_t block_bytes) noexcept {
  // Never destroyed: blocks may be freed until the process ends.
  static auto& small = *new block_store;
  static auto& large = *new block_store;
  return detail::worker_base::is_large(block_bytes) ? large : small;
}

void block_store::count_slab() noexcept {
  const std::size_t now = slabs_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::size_t most = most_slabs_.load(std::memory_order_relaxed);
  while (most < now && !most_slabs_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

void block_store::link_first(slab& s) noexcept {
  s.previous = nullptr;
  s.next = first_;
  (first_ != nullptr ? first_->previous : last_) = &s;
  first_ = &s;
}

void block_store::link_last(slab& s) noexcept {
  s.next = nullptr;
  s.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &s;
  last_ = &s;
}

void block_store::unlink(slab& s) noexcept {
  (s.previous != nullptr ? s.previous->next : first_) = s.next;
  (s.next != nullptr ? s.next->previous : last_) = s.previous;
}

void block_store::give(block* first) noexcept {
  slab* ended = nullptr;  // linked by `next`
  {
    const std::lock_guard locked(lock_);
    while (first != nullptr) {
      block* const b = first;
      first = first->next;
      slab& s = slab_of(b);
      b->next = std::exchange(s.free, b);
      if (++s.free_blocks == 1) link_first(s);
      if (s.free_blocks != s.blocks) continue;
      unlink(s);
      if (spare_ < k_most_spare) {
        ++spare_;
        link_last(s);
      } else {
        s.next = std::exchange(ended, &s);
      }
    }
  }
  while (ended != nullptr) {
    slabs_.fetch_sub(1, std::memory_order_relaxed);
    destroy(*std::exchange(ended, ended->next));
  }
}

void block_store::shorten(slab& s, std::uint32_t by) noexcept {
  {
    const std::lock_guard locked(lock_);
    s.blocks -= by;
    if (s.free_blocks != s.blocks) return;
    if (s.free_blocks != 0) unlink(s);
  }
  slabs_.fetch_sub(1, std::memory_order_relaxed);
  destroy(s);
}

block* block_store::take(unsigned most, unsigned& count) noexcept {
  count = 0;
  block* taken = nullptr;
  const std::lock_guard locked(lock_);
  while (count < most && first_ != nullptr) {
    slab& s = *first_;
    if (s.free_blocks == s.blocks) --spare_;
    for (; count < most && s.free != nullptr; ++count, --s.free_blocks) {
      block* const b = s.free;
      s.free = b->next;
      b->next = std::exchange(taken, b);
    }
    if (s.free == nullptr) unlink(s);
  }
  return taken;
}

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

void block_depot::release(block* first) noexcept {
  if (first != nullptr) slab_of(first).home->give(first);
}

block_slab::~block_slab() {
  if (next_ == end_) return;
  slab& s = slab_of(next_);
  s.home->shorten(s, static_cast<std::uint32_t>(static_cast<std::size_t>(end_ - next_) / block_bytes_));
}

block* block_slab::cut(unsigned& count) {
  constexpr unsigned k_most = 32;  // pages are touched only when they are needed
  if (next_ == end_) {
    machine::reserved_range memory(k_bytes, k_bytes);
    memory.commit(0, k_bytes);
    std::byte* const first = memory.data();
    const std::size_t blocks = (k_bytes - k_first_block) / block_bytes_;
    ::new (static_cast<void*>(first))
        slab{std::move(memory), &block_store::of_size(block_bytes_), static_cast<std::uint32_t>(blocks)};
    block_store::of_size(block_bytes_).count_slab();
    next_ = first + k_first_block;
    end_ = next_ + blocks * block_bytes_;
  }
  block* const first = ::new (static_cast<void*>(next_)) block{nullptr};
  block* last = first;
  for (count = 1, next_ += block_bytes_; count < k_most && next_ != end_; ++count, next_ += block_bytes_)
    last = last->next = ::new (static_cast<void*>(next_)) block{nullptr};
  return first;
}

}  // namespace shoal::sched

namespace shoal::detail {

void deallocate_outside(void* at, std::size_t bytes) noexcept {
  if (bytes > worker_base::k_block_bytes) {
    ::operator delete(at);
    return;
  }
  const tsan_ignore_scope ignore;
  release_to(at);
  sched::block_depot::release(::new (at) worker_base::block{nullptr});
}

}  // namespace shoal::detail
