// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_pool.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "machine/reserved_range.hpp"

namespace shoal::fiber {

stack_pool::stack_pool(stack_region& region, void* owner, entry_function entry, std::uint8_t size_class) noexcept
    : region_(region),
      owner_(owner),
      entry_(entry),
      kept_(std::clamp<std::size_t>(k_most_kept_bytes / region.stack_bytes(), 1, k_most_kept)),
      size_class_(size_class) {}

stack_pool::~stack_pool() {
  for (fiber* f = free_; f != nullptr;) {
    fiber* next = f->next_free;
    forget(*f);
    f = next;
  }
}

fiber* stack_pool::place(std::size_t stack) noexcept {
  std::byte* const top = region_.staggered_top(stack);
  void* const place = region_.fiber_place(stack);
#if SHOAL_ASAN
  __asan_unpoison_memory_region(place, sizeof(fiber));  // a stack of a pool that has ended may have lain there
#endif
  auto* f = new (place) fiber;
  f->owner = owner_;
  f->stack = static_cast<std::uint32_t>(stack);
  f->size_class = size_class_;
  prepare(*f, region_.bottom(stack), top, entry_);
  return f;
}

// A stack without a fiber; k_none when the region is used up. Throws when the system refuses memory.
std::size_t stack_pool::take_number() {
  if (!trimmed_.empty()) {
    const std::size_t stack = trimmed_.back();
    trimmed_.pop_back();
    return stack;
  }
  if (fresh_ == fresh_end_) {
    if (leased_ == stack_region::k_none) leased_ = region_.lease();
    if (leased_ == stack_region::k_none) return stack_region::k_none;
    if (leases_.size() == leases_.capacity()) leases_.reserve(2 * leases_.size() + 8);
    region_.commit(leased_);  // where refused, the lease is kept for another time
    leases_.push_back(leased_);
    fresh_ = std::exchange(leased_, stack_region::k_none);
    fresh_end_ = fresh_ + region_.stacks_per_lease();
  }
  region_.guard(fresh_);
  if (!region_.has_guards()) unguarded_ = true;
  return fresh_++;
}

fiber* stack_pool::make() noexcept {
  try {
    const std::size_t stack = take_number();
    if (stack == stack_region::k_none) return nullptr;
    fiber* const f = place(stack);
    ++in_use_;
    return f;
  } catch (const std::exception& refusal) {
    if (!std::exchange(refused_, true)) base::warn("no memory for more stacks: {}", refusal.what());
    return nullptr;
  }
}

void stack_pool::trim(std::size_t keep, std::size_t most) noexcept {
  for (; idle_ > keep && most > 0; --most) {
    fiber* f = free_;
    free_ = f->next_free;
    --idle_;
    forget(*f);
    if (!region_.on_large_pages()) machine::discard(region_.bottom(f->stack), region_.stack_bytes());
    trimmed_.push_back(f->stack);
  }
}

void stack_pool::shrink() noexcept {
  for (const fiber* f = free_; f != nullptr; f = f->next_free) give_back_depth(*f);
  puts_shrunk_ = puts_;
}

[[gnu::noinline, gnu::cold]] void stack_pool::give_back_surplus(std::size_t most) noexcept {
  if (looks_ >= k_looks_per_window) {
    surplus_ = lowest_idle_ - std::min(lowest_idle_, kept_);
    lowest_idle_ = idle_;
    looks_ = 0;
  }
  surplus_ = std::min(surplus_, lowest_idle_ - std::min(lowest_idle_, kept_));  // what is needed again stays
  const std::size_t count = std::min(surplus_, most);
  trim(idle_ - count, count);
  surplus_ -= count;
}

// Down to the page below the one that the stack is used to: by us, standing on it, or by the loop that goes on on it.
[[gnu::noinline, gnu::cold]] void stack_pool::give_back_depth(const fiber& f) noexcept {
  if (region_.on_large_pages()) return;
  std::byte* const bottom = region_.bottom(f.stack);
  const auto* used = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (used < bottom || used >= region_.top(f.stack)) used = static_cast<const std::byte*>(f.context);
  const std::size_t page = machine::page_size();
  const auto spare = static_cast<std::size_t>(used - bottom) / page * page;
  if (spare > page) machine::discard(bottom, spare - page);
}

}  // namespace shoal::fiber
