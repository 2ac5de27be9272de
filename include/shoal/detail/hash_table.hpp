// SPDX-License-Identifier: Apache-2.0
// A hash table for one thread at a time: open addressing with linear probing, a byte of the hash per slot, deletion by
// moving back, growth by doubling. The caller brings the hash, whose bits it has divided: see hash_shard.hpp.
// Who may call: one thread at a time; never switches tasks.
// Guarantees: at most 3/4 of the slots are used. References are valid until the next insertion or deletion. An
// exception of a value's constructor, or of memory, leaves the table as it was.
// Complexity: expected O(1); growth O(size). Source: Knuth, The Art of Computer Programming 3, 6.4, algorithms L and R.
// Shown by tests/unit/cluster/hash_table_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "shoal/detail/table_memory.hpp"
#include "shoal/memory_use.hpp"

namespace shoal::detail {

template <class Key, class Value>
struct hash_entry {
  Key key;
  [[no_unique_address]] Value value;
};

/// `Hash` is for entries that move; it gives the same hash as the caller.
template <class Key, class Value, class Hash>
class hash_table {
public:
  using entry = hash_entry<Key, Value>;

  hash_table() = default;
  hash_table(const hash_table&) = delete;
  hash_table& operator=(const hash_table&) = delete;
  ~hash_table() { clear(); }

  /// What it takes from now on is counted there. Before the first entry.
  void count_with(memory_meter* meter) noexcept { meter_ = meter; }
  /// Before the first entry: whence large tables get their slots. It outlives the table.
  void use(table_memory& memory) noexcept { memory_ = &memory; }

  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return bytes_of(slots()); }

  Value* find(std::uint64_t hash, const Key& key) noexcept {
    if (size_ == 0) return nullptr;
    const std::size_t at = search(hash, key);
    return tags_[at] == 0 ? nullptr : &entries_[at].value;
  }
  /// The value of the key, and whether make() has made it now.
  template <class Make>
  std::pair<Value*, bool> find_or_make(std::uint64_t hash, Key&& key, const Make& make) {
    if (size_ >= room_) grow(size_ + 1);
    const std::size_t at = search(hash, key);
    if (tags_[at] != 0) return {&entries_[at].value, false};
    ::new (static_cast<void*>(&entries_[at])) entry{std::move(key), make()};
    tags_[at] = tag_of(hash);
    ++size_;
    return {&entries_[at].value, true};
  }
  bool erase(std::uint64_t hash, const Key& key) noexcept {
    if (size_ == 0) return false;
    const std::size_t at = search(hash, key);
    if (tags_[at] == 0) return false;
    erase_slot(at);
    return true;
  }
  /// Of the entry that this value, which find_or_make() has returned, belongs to.
  void erase_value(std::uint64_t hash, const Value* value) noexcept {
    std::size_t at = first_slot(hash);
    while (&entries_[at].value != value) at = next(at);
    erase_slot(at);
  }
  void reserve(std::size_t size) {
    if (size > room_) grow(size);
  }
  void clear() noexcept {
    for_each([](entry& e) { e.~entry(); });
    free_slots(slots());
    tags_ = nullptr;
    entries_ = nullptr;
    size_ = room_ = mask_ = 0;
  }
  template <class F>
  void for_each(const F& f) {
    for (std::size_t at = 0; at < slots(); ++at)
      if (tags_[at] != 0) f(entries_[at]);
  }
  /// The memory that a search for this hash begins with.
  void prefetch(std::uint64_t hash) const noexcept {
    if (tags_ == nullptr) return;
    const std::size_t at = first_slot(hash);
    __builtin_prefetch(tags_ + at, 1);
    __builtin_prefetch(entries_ + at, 1);
  }

private:
  static constexpr std::size_t k_first_slots = 8;
  // The bits of the hash that this table uses; the others choose the node and the table.
  static constexpr unsigned k_slot_shift = 16;
  static constexpr unsigned k_tag_shift = 44;
  static std::uint8_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint8_t>(hash >> k_tag_shift) | 0x80;
  }

  std::size_t slots() const noexcept { return tags_ == nullptr ? 0 : mask_ + 1; }
  std::size_t first_slot(std::uint64_t hash) const noexcept { return (hash >> k_slot_shift) & mask_; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }

  /// The slot of the key, or the free one where it belongs. There is a free one.
  std::size_t search(std::uint64_t hash, const Key& key) const noexcept {
    const std::uint8_t tag = tag_of(hash);
    std::size_t at = first_slot(hash);
    while (tags_[at] != 0 && (tags_[at] != tag || !(entries_[at].key == key))) at = next(at);
    return at;
  }

  void erase_slot(std::size_t hole) noexcept {
    entries_[hole].~entry();
    // What follows in the same run moves into the hole, unless it is nearer to its first slot where it is.
    for (std::size_t at = next(hole); tags_[at] != 0; at = next(at)) {
      const std::size_t first = first_slot(Hash()(entries_[at].key));
      if (((at - first) & mask_) < ((at - hole) & mask_)) continue;
      ::new (static_cast<void*>(&entries_[hole])) entry(std::move(entries_[at]));
      entries_[at].~entry();
      tags_[hole] = tags_[at];
      hole = at;
    }
    tags_[hole] = 0;
    --size_;
  }

  static std::uint8_t* tags_in(entry* entries, std::size_t slots) noexcept {
    return reinterpret_cast<std::uint8_t*>(entries + slots);
  }
  static constexpr std::size_t bytes_of(std::size_t slots) noexcept { return slots * (sizeof(entry) + 1); }
  static constexpr bool k_fits_memory = alignof(entry) <= 64;  // what table_memory aligns to
  void* new_slots(std::size_t slots) {
    void* const at = k_fits_memory && memory_ != nullptr
                         ? memory_->allocate(bytes_of(slots))
                         : ::operator new (bytes_of(slots), std::align_val_t{alignof(entry)});
    if (meter_ != nullptr) meter_->take(bytes_of(slots));
    return at;
  }
  void free_slots(std::size_t slots) noexcept {
    if (slots == 0) return;
    if (k_fits_memory && memory_ != nullptr)
      memory_->free(entries_, bytes_of(slots));
    else
      ::operator delete (entries_, std::align_val_t{alignof(entry)});
    if (meter_ != nullptr) meter_->give_back(bytes_of(slots));
  }

  void grow(std::size_t size) {
    const std::size_t wanted = std::bit_ceil(std::max(size + size / 3 + 1, k_first_slots));
    auto* const entries = static_cast<entry*>(new_slots(wanted));
    std::uint8_t* const tags = tags_in(entries, wanted);
    std::memset(tags, 0, wanted);
    const std::size_t old_slots = slots();
    mask_ = wanted - 1;
    for (std::size_t from = 0; from < old_slots; ++from) {
      if (tags_[from] == 0) continue;
      std::size_t at = first_slot(Hash()(entries_[from].key));
      while (tags[at] != 0) at = next(at);
      ::new (static_cast<void*>(&entries[at])) entry(std::move(entries_[from]));
      entries_[from].~entry();
      tags[at] = tags_[from];
    }
    free_slots(old_slots);
    tags_ = tags;
    entries_ = entries;
    room_ = wanted - wanted / 4;
  }

  table_memory* memory_ = nullptr;  // nullptr: the heap
  // One block of memory: the entries, and then the tags: 0 is a free slot.
  std::uint8_t* tags_ = nullptr;
  entry* entries_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // most entries
  std::size_t mask_ = 0;
  memory_meter* meter_ = nullptr;
};

}  // namespace shoal::detail
