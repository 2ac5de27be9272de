// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_region.hpp"

#include <algorithm>
#include <limits>

#include "base/log.hpp"
#include "machine/memory_info.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define SHOAL_KNOWS_VALGRIND 1
#else
#define SHOAL_KNOWS_VALGRIND 0
#endif

namespace shoal::fiber {
namespace {

// As large as frames are at most: a function with a larger one may step over the guard, unless it was compiled to touch
// each page (-fstack-clash-protection). It costs address space, and where guards are marks 8 bytes of page table for
// each page: 252 KiB make some 650 bytes per stack, 1 MiB would make 2 KiB, half as much as a waiting task takes, and
// twice the time to make a stack. An odd number, so that of stacks of an even one no page is added.
constexpr std::size_t k_guard_pages = 63;

// A lease is committed with one system call. Where the system counts what is committed, large stacks in numbers that
// are not used would be refused.
constexpr std::size_t k_most_lease_bytes = std::size_t{32} << 20;

// A quarter of the 128 TiB that a process has. Where `ulimit -v` gives less, the threads' own stacks, the heap and
// other pools need most of it.
constexpr std::size_t k_most_region_bytes = std::size_t{32} << 40;

std::size_t stride(std::size_t stack_bytes, std::size_t guard_bytes) {
  const std::size_t pages = (machine::round_up(stack_bytes, machine::page_size()) + guard_bytes) / machine::page_size();
  return (pages | 1) * machine::page_size();
}

// As many as one page of the pool holds, in whole leases: there it is taken as a whole.
std::size_t stacks_of_page(std::size_t pool_page_bytes, std::size_t stride_bytes, std::size_t per_lease) {
  return machine::round_down(pool_page_bytes / (stride_bytes + sizeof(fiber)), per_lease);
}

std::size_t most_by_address_space(std::size_t stride_bytes) {
  const std::uint64_t limit = machine::address_space_limit();
  const std::size_t bytes = limit == machine::k_no_limit ? k_most_region_bytes : static_cast<std::size_t>(limit / 4);
  return std::min(bytes, k_most_region_bytes) / (stride_bytes + sizeof(fiber));
}

}  // namespace

std::size_t stack_region::lease_size(std::size_t stack_bytes) noexcept {
  const std::size_t fitting = k_most_lease_bytes / stride(stack_bytes, k_guard_pages * machine::page_size());
  return std::bit_floor(std::clamp<std::size_t>(fitting, 1, k_stacks_per_lease));
}

stack_region::stack_region(std::size_t stack_bytes, std::size_t most_stacks, std::size_t least_stacks, guard_kind best,
                           const machine::page_plan& pages)
    : large_(pages.large()),
      pool_page_bytes_(pages.pool_page_bytes),
      guard_bytes_((large_ ? 1 : k_guard_pages) * machine::page_size()),
      stride_bytes_(stride(stack_bytes, guard_bytes_)),
      stacks_per_lease_(lease_size(stack_bytes)),
      first_stacks_(machine::round_up(
          std::max<std::size_t>({least_stacks, 1, stacks_of_page(pool_page_bytes_, stride_bytes_, stacks_per_lease_)}),
          stacks_per_lease_)),
      capacity_(machine::round_up(std::max(std::min(most_stacks, most_by_address_space(stride_bytes_)), first_stacks_),
                                  stacks_per_lease_)),
      guards_(large_ ? guard_kind::none : best) {
  SHOAL_ASSERT(locate(capacity_ - 1).segment < k_most_segments, "a region of stacks has segments for its capacity");
  reserve(0);
}

std::size_t stack_region::stacks_in(std::size_t segment) const noexcept {
  return std::min(first_stacks_ << segment, capacity_ - begin_of(segment));
}

// Large pages are whole ones of the range, or none.
std::size_t stack_region::range_bytes(std::size_t segment) const noexcept {
  const std::size_t page = pool_page_bytes_ != 0 ? pool_page_bytes_
                           : large_              ? machine::k_huge_page_bytes
                                                 : machine::page_size();
  return machine::round_up(stacks_in(segment) * (stride_bytes_ + sizeof(fiber)), page);
}

void stack_region::reserve(std::size_t segment) {
  const std::lock_guard hold(reserving_);
  if (base_of(segment) != nullptr) return;  // another worker was faster
  const std::size_t stacks = stacks_in(segment);
  if (stacks > std::numeric_limits<std::size_t>::max() / 2 / (stride_bytes_ + sizeof(fiber)))
    throw error(errc::out_of_memory,
                "the stacks of a pool are more than an address space holds; lower the setting stack");
  const std::size_t bytes = range_bytes(segment);
  if (pool_page_bytes_ != 0)
    ranges_[segment] = machine::reserved_range::of_pool(bytes, pool_page_bytes_);
  else if (large_)
    ranges_[segment] = machine::reserved_range(bytes, machine::k_huge_page_bytes, machine::page_kind::huge);
  else
    ranges_[segment] = machine::reserved_range(bytes, machine::page_size(), machine::page_kind::small);
  bases_[segment].store(ranges_[segment].data(), std::memory_order_release);
}

std::size_t stack_region::reserved_bytes() const noexcept {
  std::size_t bytes = 0;
  for (std::size_t k = 0; k < k_most_segments; ++k)
    if (base_of(k) != nullptr) bytes += range_bytes(k);
  return bytes;
}

stack_usage stack_region::usage() const {
  stack_usage u;
  u.stacks = std::min(leased_.load(std::memory_order_relaxed), capacity_);
  u.committed_bytes = u.stacks * stack_bytes();
  u.reserved_bytes = reserved_bytes();
  if (u.stacks == 0) return u;
  for (std::size_t k = 0; k < k_most_segments; ++k)
    if (const std::byte* const base = base_of(k); base != nullptr) {
      // Fibers may lie on the last large page.
      const std::size_t bytes = large_ ? range_bytes(k) : machine::round_up(fibers_offset(k), machine::page_size());
      const machine::page_count count = machine::count_pages(base, bytes);
      u.resident_bytes += count.resident_bytes;
      u.huge_bytes += count.huge_bytes;
    }
  return u;
}

std::size_t stack_region::lease() noexcept {
  const std::size_t first = leased_.fetch_add(stacks_per_lease_, std::memory_order_relaxed);
  if (first + stacks_per_lease_ > capacity_) {
    leased_.fetch_sub(stacks_per_lease_, std::memory_order_relaxed);
    return k_none;
  }
  return first;
}

// A lease lies in one segment, since all but the last hold whole leases, and the capacity does.
void stack_region::commit(std::size_t first) {
  const place at = locate(first);
  if (base_of(at.segment) == nullptr) reserve(at.segment);
  machine::reserved_range& range = ranges_[at.segment];
  if (large_) {
    // A large page is made at the first access if all of it may be accessed.
    const std::size_t begin = machine::round_down(at.index * stride_bytes_, machine::k_huge_page_bytes);
    const std::size_t end =
        machine::round_up((at.index + stacks_per_lease_) * stride_bytes_, machine::k_huge_page_bytes);
    range.commit(begin, std::min(end, range.size()) - begin);
  }
  const std::size_t page = machine::page_size();
  const std::size_t fibers = fibers_offset(at.segment);
  const std::size_t fibers_begin = fibers + machine::round_down(at.index * sizeof(fiber), page);
  const std::size_t fibers_end = fibers + machine::round_up((at.index + stacks_per_lease_) * sizeof(fiber), page);
  range.commit(fibers_begin, fibers_end - fibers_begin);
  if (!large_) range.commit(at.index * stride_bytes_, stacks_per_lease_ * stride_bytes_);
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
  tell_valgrind(stack);
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
  for (std::size_t k = 0; k < k_most_segments && begin_of(k) < capacity_; ++k) {
    const std::byte* const base = base_of(k);
    if (base == nullptr || at < base || at >= base + fibers_offset(k)) continue;
    *stack = begin_of(k) + static_cast<std::size_t>(at - base) / stride_bytes_;
    return true;
  }
  return false;
}

}  // namespace shoal::fiber
