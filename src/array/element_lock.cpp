// SPDX-License-Identifier: Apache-2.0
// The locks of updates of elements that no command carries, declared in shoal/detail/array_update.hpp.
#include "array/element_locks.hpp"

#include "array/node_memory.hpp"
#include "shoal/detail/array_update.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/random.hpp"

namespace shoal::detail {
namespace {

const void* this_thread() noexcept {
  static thread_local char here;
  return &here;
}

}  // namespace

element_lock::element_lock(std::uint64_t offset)
    : held_(&this_port().context->memory->locks().stripes[mix64(offset) % array::element_locks::k_count]) {
  auto& stripe = *static_cast<array::element_locks::stripe*>(held_);
  if (!stripe.lock.try_lock()) [[unlikely]] {
    SHOAL_ASSERT(stripe.holder.load(std::memory_order_relaxed) != this_thread(),
                 "a function given to update() updates another element: begin the second update after the first, or "
                 "with async_at");
    stripe.lock.lock();
  }
  stripe.holder.store(this_thread(), std::memory_order_relaxed);
}

element_lock::~element_lock() {
  auto& stripe = *static_cast<array::element_locks::stripe*>(held_);
  stripe.holder.store(nullptr, std::memory_order_relaxed);
  stripe.lock.unlock();
}

}  // namespace shoal::detail
