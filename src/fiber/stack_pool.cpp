// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_pool.hpp"

#include <algorithm>
#include <new>

#include "shoal/error.hpp"

namespace shoal::fiber {
namespace {

constexpr std::size_t k_line_bytes = 64;
// More lines than this would push a waiting task's frames out of the first page.
constexpr std::size_t k_stagger_lines = 16;

machine::reserved_range reserve(std::size_t stack_bytes, std::size_t& stacks, std::size_t least) {
  for (;;) {
    try {
      return machine::reserved_range(stacks * stack_bytes, machine::k_huge_page_bytes, machine::page_kind::small);
    } catch (const error&) {
      if (stacks / 2 < least) throw;
      stacks /= 2;
    }
  }
}

}  // namespace

stack_region::stack_region(std::size_t stack_bytes, std::size_t most_stacks, std::size_t least_stacks)
    : stack_bytes_(machine::round_up(stack_bytes, machine::page_size())),
      guard_bytes_(machine::page_size()),
      capacity_(machine::round_up(most_stacks, k_stacks_per_lease)),
      range_(reserve(stack_bytes_, capacity_, machine::round_up(least_stacks, k_stacks_per_lease))) {}

std::byte* stack_region::lease() {
  const std::size_t first = leased_.fetch_add(k_stacks_per_lease, std::memory_order_relaxed);
  if (first + k_stacks_per_lease > capacity_) {
    leased_.fetch_sub(k_stacks_per_lease, std::memory_order_relaxed);
    return nullptr;
  }
  std::byte* bottom = range_.data() + first * stack_bytes_;
  range_.commit(first * stack_bytes_, k_stacks_per_lease * stack_bytes_);
  for (std::size_t i = 0; i < k_stacks_per_lease && has_guards(); ++i)
    if (!machine::guard_install(bottom + i * stack_bytes_, guard_bytes_))
      has_guards_.store(false, std::memory_order_relaxed);
  return bottom;
}

bool stack_region::find(const void* address, const std::byte** stack) const noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  if (at < range_.data() || at >= range_.data() + capacity_ * stack_bytes_) return false;
  *stack = range_.data() + static_cast<std::size_t>(at - range_.data()) / stack_bytes_ * stack_bytes_;
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

fiber* stack_pool::place(std::byte* bottom) noexcept {
  const std::size_t index = reinterpret_cast<std::uintptr_t>(bottom) / region_.stack_bytes();
  std::byte* top = bottom + region_.stack_bytes() - (index % k_stagger_lines) * k_line_bytes -
                   machine::round_up(sizeof(fiber), k_line_bytes);
  auto* f = new (top) fiber;
  f->owner = owner_;
  f->stack_bottom = bottom;
  f->stack_bytes = static_cast<std::uint32_t>(region_.stack_bytes());
  std::byte* floor = bottom + region_.guard_bytes();
  prepare(*f, floor, top, entry_);
  return f;
}

fiber* stack_pool::make() noexcept {
  if (bare_.empty()) {
    try {
      std::byte* first = region_.lease();
      if (first == nullptr) return nullptr;
      for (std::size_t i = stack_region::k_stacks_per_lease; i-- > 0;)
        bare_.push_back(first + i * region_.stack_bytes());
    } catch (const std::exception&) {
      return nullptr;
    }
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
    std::byte* bottom = f->stack_bottom;
    forget(*f);
    machine::discard(bottom + region_.guard_bytes(), region_.stack_bytes() - region_.guard_bytes());
    bare_.push_back(bottom);
  }
}

void stack_pool::release_depth(fiber* f) noexcept {
  std::byte* floor = f->stack_bottom + region_.guard_bytes();
  std::byte* first_page = f->stack_bottom + region_.stack_bytes() - machine::page_size();
  if (first_page > floor) machine::discard(floor, static_cast<std::size_t>(first_page - floor));
}

}  // namespace shoal::fiber
