// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/table_memory.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "machine/huge_buffer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/locks/tas.hpp"

namespace shoal::detail {
namespace {

constexpr std::size_t k_alignment = 64;
constexpr std::size_t k_least_bytes = std::size_t{32} << 10;  // smaller blocks come from the heap
constexpr std::size_t k_region_bytes = std::size_t{2} << 20;
constexpr std::size_t k_largest_region_bytes = std::size_t{32} << 20;

std::size_t rounded(std::size_t bytes) noexcept { return (bytes + k_alignment - 1) / k_alignment * k_alignment; }

}  // namespace

// A region is as large as all before it of its size together: few regions, and few pages that are not needed.
struct table_memory::state {
  struct region {
    machine::huge_buffer memory;
    std::size_t block_bytes;
    std::size_t taken_bytes = 0;  // from the begin, blocks that are free again too
    std::size_t used = 0;         // blocks
    std::vector<std::byte*> free{};
    bool has_room() const noexcept { return !free.empty() || taken_bytes + block_bytes <= memory.size(); }
  };

  mutable tas_lock<> lock;
  std::list<region> regions;
};

table_memory::table_memory() : state_(std::make_unique<state>()) {}
table_memory::~table_memory() = default;

void* table_memory::allocate(std::size_t bytes) {
  if (bytes < k_least_bytes) return ::operator new (bytes, std::align_val_t{k_alignment});
  bytes = rounded(bytes);
  const std::lock_guard hold(state_->lock);
  std::size_t of_this_size = 0;
  for (state::region& r : state_->regions) {
    if (r.block_bytes != bytes) continue;
    of_this_size += r.memory.size();
    if (!r.has_room()) continue;
    ++r.used;
    if (r.free.empty()) return r.memory.data() + std::exchange(r.taken_bytes, r.taken_bytes + bytes);
    std::byte* const at = r.free.back();
    r.free.pop_back();
    return at;
  }
  const std::size_t wanted = std::max(bytes, std::clamp(of_this_size, k_region_bytes, k_largest_region_bytes));
  state::region& r =
      state_->regions.emplace_front(state::region{machine::huge_buffer::unpopulated(wanted), bytes, bytes, 1});
  r.free.reserve(r.memory.size() / bytes);
  return r.memory.data();
}

void table_memory::free(void* at, std::size_t bytes) noexcept {
  if (bytes < k_least_bytes) return ::operator delete (at, std::align_val_t{k_alignment});
  auto* const block = static_cast<std::byte*>(at);
  const std::lock_guard hold(state_->lock);
  const auto r = std::ranges::find_if(state_->regions, [block](const state::region& one) {
    return block >= one.memory.data() && block < one.memory.data() + one.memory.size();
  });
  SHOAL_ASSERT(r != state_->regions.end() && r->block_bytes == rounded(bytes), "a block of another table_memory");
  if (--r->used == 0)
    state_->regions.erase(r);
  else
    r->free.push_back(block);  // there is room
}

std::size_t table_memory::bytes() const noexcept {
  const std::lock_guard hold(state_->lock);
  std::size_t sum = 0;
  for (const state::region& r : state_->regions) sum += r.memory.size();
  return sum;
}

}  // namespace shoal::detail
