// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_classes.hpp"

#include "machine/memory_info.hpp"

namespace shoal::fiber {

unsigned stack_classes::class_of(std::size_t bytes) noexcept {
  unsigned found = 0;
  while (found + 1 < k_classes && bytes_of(found) < bytes) ++found;
  return found;
}

stack_region& stack_classes::region(unsigned size_class) {
  if (stack_region* const made = made_[size_class].load(std::memory_order_acquire); made != nullptr) return *made;
  const std::lock_guard hold(making_);
  auto& mine = regions_[size_class];
  if (mine == nullptr) {
    const std::size_t bytes = bytes_of(size_class) + machine::page_size();
    mine = std::make_unique<stack_region>(bytes, most_stacks_, stack_region::lease_size(bytes), best_, pages_);
    made_[size_class].store(mine.get(), std::memory_order_release);
  }
  return *mine;
}

const stack_region* stack_classes::find(const void* address, std::size_t* stack) const noexcept {
  for (const auto& one : made_) {
    const stack_region* const made = one.load(std::memory_order_acquire);
    if (made != nullptr && made->find(address, stack)) return made;
  }
  return nullptr;
}

}  // namespace shoal::fiber
