// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "shoal/error.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define SHOAL_KNOWS_VALGRIND 1
#else
#define SHOAL_KNOWS_VALGRIND 0
#endif

namespace shoal::fiber {
namespace {

constexpr std::size_t k_line_bytes = 64;
// More lines than this would push a waiting task's frames out of the first page.
constexpr std::size_t k_stagger_lines = 16;
// As large as frames are at most: a function with a larger one may step over the guard, unless it was compiled to touch
// each page (-fstack-clash-protection). It costs address space, and where guards are marks 8 bytes of page table for
// each page: 252 KiB make some 650 bytes per stack, 1 MiB would make 2 KiB, half as much as a waiting task takes, and
// twice the time to make a stack. An odd number, so that of stacks of an even one no page is added.
constexpr std::size_t k_guard_pages = 63;

std::size_t stride(std::size_t stack_bytes, std::size_t guard_bytes) {
  const std::size_t pages = (machine::round_up(stack_bytes, machine::page_size()) + guard_bytes) / machine::page_size();
  return (pages | 1) * machine::page_size();
}

// As many of `stacks` as the address space has room for. Where that is limited half of what would fit is taken, because
// the threads' own stacks and the heap need some too.
machine::reserved_range reserve(std::size_t stride_bytes, std::size_t& stacks, std::size_t least) {
  for (bool limited = false;;) {
    try {
      machine::reserved_range taken(machine::round_up(stacks * (stride_bytes + sizeof(fiber)), machine::page_size()),
                                    machine::k_huge_page_bytes, machine::page_kind::small);
      if (!std::exchange(limited, false)) return taken;
    } catch (const error&) {
      if (stacks / 2 < least) throw;
      limited = true;
    }
    stacks = std::max(stacks / 2, least);
  }
}

}  // namespace

stack_region::stack_region(std::size_t stack_bytes, std::size_t most_stacks, std::size_t least_stacks, guard_kind best)
    : guard_bytes_(k_guard_pages * machine::page_size()),
      stride_bytes_(stride(stack_bytes, guard_bytes_)),
      capacity_(machine::round_up(most_stacks, k_stacks_per_lease)),
      range_(reserve(stride_bytes_, capacity_, machine::round_up(least_stacks, k_stacks_per_lease))),
      guards_(best) {}

std::size_t stack_region::lease() noexcept {
  const std::size_t first = leased_.fetch_add(k_stacks_per_lease, std::memory_order_relaxed);
  if (first + k_stacks_per_lease > capacity_) {
    leased_.fetch_sub(k_stacks_per_lease, std::memory_order_relaxed);
    return k_none;
  }
  return first;
}

void stack_region::commit(std::size_t first) {
  const std::size_t page = machine::page_size();
  const std::size_t fibers_begin = fibers_offset() + first * sizeof(fiber) / page * page;
  const std::size_t fibers_end =
      fibers_offset() + machine::round_up((first + k_stacks_per_lease) * sizeof(fiber), page);
  range_.commit(fibers_begin, fibers_end - fibers_begin);
  range_.commit(first * stride_bytes_, k_stacks_per_lease * stride_bytes_);
  for (std::size_t i = first; i < first + k_stacks_per_lease; ++i) {
    guard(i);
    tell_valgrind(i);
  }
}

// Or it takes switches for pushes and pops of megabytes. Once for all: stacks stay where they are.
void stack_region::tell_valgrind([[maybe_unused]] std::size_t stack) {
#if SHOAL_KNOWS_VALGRIND
  if (RUNNING_ON_VALGRIND == 0) return;
  const auto name = VALGRIND_STACK_REGISTER(bottom(stack), top(stack) - 1);
  const std::lock_guard hold(guard_of_names_);
  names_for_valgrind_.push_back(static_cast<unsigned>(name));
#endif
}

stack_region::~stack_region() {
#if SHOAL_KNOWS_VALGRIND
  for (const unsigned name : names_for_valgrind_) VALGRIND_STACK_DEREGISTER(name);
#endif
}

void stack_region::guard(std::size_t stack) noexcept {
  std::byte* const at = bottom(stack) - guard_bytes_;
  guard_kind kind = guards_.load(std::memory_order_relaxed);
  if (kind == guard_kind::marked) {
    if (machine::guard_install(at, guard_bytes_)) return;
    // Unless another worker has come further meanwhile.
    if (guards_.compare_exchange_strong(kind, guard_kind::mapped, std::memory_order_relaxed)) kind = guard_kind::mapped;
  }
  if (kind == guard_kind::none || (stack < k_most_mapped_guards && machine::forbid_access(at, guard_bytes_))) return;
  if (guards_.exchange(guard_kind::none, std::memory_order_relaxed) != guard_kind::none)
    base::warn(
        "from the {}th on, stacks have no guard (Linux 6.13 has them for all): a task that overflows its stack is "
        "noticed only when it waits there; if frames are large {}",
        stack + 1, k_stack_advice);
}

bool stack_region::find(const void* address, std::size_t* stack) const noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  if (at < range_.data() || at >= range_.data() + capacity_ * stride_bytes_) return false;
  *stack = static_cast<std::size_t>(at - range_.data()) / stride_bytes_;
  return true;
}

stack_pool::stack_pool(stack_region& region, void* owner, entry_function entry) noexcept
    : region_(region), owner_(owner), entry_(entry) {}

stack_pool::~stack_pool() {
  for (fiber* f = free_; f != nullptr;) {
    fiber* next = f->next_free;
    forget(*f);
    f = next;
  }
}

fiber* stack_pool::place(std::size_t stack) noexcept {
  std::byte* const top = region_.top(stack) - (stack % k_stagger_lines) * k_line_bytes;
  auto* f = new (region_.fiber_place(stack)) fiber;
  f->owner = owner_;
  f->stack = static_cast<std::uint32_t>(stack);
  prepare(*f, region_.bottom(stack), top, entry_);
  return f;
}

fiber* stack_pool::make() noexcept {
  if (bare_.empty()) {
    try {
      bare_.reserve(stack_region::k_stacks_per_lease);
      if (leased_ == stack_region::k_none) leased_ = region_.lease();
      if (leased_ == stack_region::k_none) return nullptr;
      region_.commit(leased_);  // where refused, the lease is kept for another time
    } catch (const std::exception& refusal) {
      if (!std::exchange(refused_, true)) base::warn("no memory for more stacks: {}", refusal.what());
      return nullptr;
    }
    for (std::size_t i = stack_region::k_stacks_per_lease; i-- > 0;) bare_.push_back(leased_ + i);
    leased_ = stack_region::k_none;
    if (!region_.has_guards()) unguarded_ = true;
  }
  fiber* f = place(bare_.back());
  bare_.pop_back();
  ++in_use_;
  return f;
}

void stack_pool::trim(std::size_t keep, std::size_t most) noexcept {
  for (; idle_ > keep && most > 0; --most) {
    fiber* f = free_;
    free_ = f->next_free;
    --idle_;
    forget(*f);
    machine::discard(region_.bottom(f->stack), region_.stack_bytes());
    bare_.push_back(f->stack);
  }
}

void stack_pool::shrink() noexcept {
  for (const fiber* f = free_; f != nullptr; f = f->next_free) give_back_depth(*f);
  puts_shrunk_ = puts_;
}

// Down to the page below the one that the stack is used to: by us, standing on it, or by the loop that goes on on it.
[[gnu::noinline, gnu::cold]] void stack_pool::give_back_depth(const fiber& f) noexcept {
  std::byte* const bottom = region_.bottom(f.stack);
  const auto* used = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (used < bottom || used >= region_.top(f.stack)) used = static_cast<const std::byte*>(f.context);
  const std::size_t page = machine::page_size();
  const auto spare = static_cast<std::size_t>(used - bottom) / page * page;
  if (spare > page) machine::discard(bottom, spare - page);
}

}  // namespace shoal::fiber
