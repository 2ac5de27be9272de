// SPDX-License-Identifier: Apache-2.0
// A node's table from an array's id to its layout. All nodes of a job have the same arrays in their tables.
// Who may call: find(): any thread, at any time; enter() and remove(): the tasks that create and free arrays.
// Guarantees: find() takes no lock and reads two words and the layout: O(1). An id is never given twice, so the id of a
// freed array is found nowhere, also if its slot is in use again. An id is found on a node from the moment that its
// creation has returned. Freeing an array while another task looks it up is misuse, which is not always noticed.
// Shown by tests/unit/array/array_table_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "array/block_owners.hpp"
#include "machine/reserved_range.hpp"
#include "shoal/detail/array_layout.hpp"

namespace shoal::array {

inline constexpr std::uint32_t k_most_arrays = 1U << 16;

class array_table {
public:
  array_table()
      : memory_(k_most_arrays * sizeof(std::atomic<std::uint32_t>), machine::page_size()),
        generations_(reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.data())) {
    memory_.commit(0, memory_.size());
#ifdef SHOAL_CHECKED
    readers_ = std::make_unique<std::atomic<std::uint8_t>[]>(k_most_arrays);
#endif
  }
  array_table(const array_table&) = delete;
  array_table& operator=(const array_table&) = delete;
  ~array_table() {
    for (auto& c : chunks_) delete[] c.load(std::memory_order_relaxed);
  }

  /// Indexed by slot: the generation of the allocation in it; 0: none.
  const std::atomic<std::uint32_t>* generations() const noexcept { return generations_; }

  /// Indexed by slot: how many caches rely on it that the array is not modified. Only in checked builds.
  const std::atomic<std::uint8_t>* readers() const noexcept { return readers_.get(); }
  void add_reader(std::uint32_t slot) noexcept {
    if (readers_ != nullptr) readers_[slot].fetch_add(1, std::memory_order_relaxed);
  }
  void remove_reader(std::uint32_t slot) noexcept {
    if (readers_ != nullptr) readers_[slot].fetch_sub(1, std::memory_order_relaxed);
  }

  /// `bounds`: of distribution::blocks; `owners`: of distribution::owned.
  void enter(const detail::array_layout& layout, std::vector<std::uint64_t> bounds = {},
             std::unique_ptr<const detail::block_owners> owners = nullptr) {
    const std::lock_guard guard(lock_);
    entry& e = chunk_of(layout.slot)[layout.slot % k_chunk];
    e.layout = layout;
    e.bounds = std::move(bounds);
    e.owners = std::move(owners);
    generations_[layout.slot].store(layout.generation, std::memory_order_release);  // partner: find()
  }
  void remove(std::uint32_t slot) noexcept {
    const std::lock_guard guard(lock_);
    if (generations_[slot].load(std::memory_order_relaxed) == 0) return;  // its creation failed before it was entered
    generations_[slot].store(0, std::memory_order_release);
    entry& e = chunks_[slot / k_chunk].load(std::memory_order_relaxed)[slot % k_chunk];
    e.bounds = {};
    e.owners.reset();
  }

  /// nullptr: there is no such array, or it was freed.
  const detail::array_layout* find(std::uint64_t id) const noexcept {
    const std::uint32_t slot = detail::array_layout::slot_of(id);
    const std::uint32_t generation = detail::array_layout::generation_of(id);
    if (generation == 0 || slot >= k_most_arrays) return nullptr;
    if (generations_[slot].load(std::memory_order_acquire) != generation) return nullptr;  // partner: enter()
    return &chunks_[slot / k_chunk].load(std::memory_order_relaxed)[slot % k_chunk].layout;
  }
  /// Those of the array in `slot`; none if there is no array.
  std::span<const std::uint64_t> bounds(std::uint32_t slot) const noexcept {
    if (generations_[slot].load(std::memory_order_acquire) == 0) return {};  // partner: enter()
    return chunks_[slot / k_chunk].load(std::memory_order_relaxed)[slot % k_chunk].bounds;
  }
  /// The same of distribution::owned; nullptr: none.
  const detail::block_owners* owners(std::uint32_t slot) const noexcept {
    if (generations_[slot].load(std::memory_order_acquire) == 0) return nullptr;  // partner: enter()
    return chunks_[slot / k_chunk].load(std::memory_order_relaxed)[slot % k_chunk].owners.get();
  }

private:
  // Chunks are made when the first of their slots is used: most jobs have few arrays.
  static constexpr std::uint32_t k_chunk = 256;

  struct entry {
    detail::array_layout layout;
    std::vector<std::uint64_t> bounds;
    std::unique_ptr<const detail::block_owners> owners;
  };

  entry* chunk_of(std::uint32_t slot) {
    auto& chunk = chunks_[slot / k_chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(new entry[k_chunk], std::memory_order_relaxed);  // published with the generation
    return chunk.load(std::memory_order_relaxed);
  }

  machine::reserved_range memory_;  // zero until it is written to: it takes pages for arrays that there are
  std::atomic<std::uint32_t>* generations_;
  std::unique_ptr<std::atomic<std::uint8_t>[]> readers_;
  std::array<std::atomic<entry*>, k_most_arrays / k_chunk> chunks_{};
  std::mutex lock_;  // of entries while they change: a slot's next array may be entered by another worker
};

}  // namespace shoal::array
