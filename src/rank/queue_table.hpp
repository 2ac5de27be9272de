// SPDX-License-Identifier: Apache-2.0
// A hash table of queues: first in, first out, by key; an element can leave from anywhere. Elements are linked by a
// member, so that the table allocates for keys alone.
// Who may call: one thread. Only reserve() allocates, and it forgets the keys of empty queues.
// Complexity: O(1) expected. Test: tests/unit/rank/matching_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace shoal::rank {

/// An element's place in a queue.
struct queue_link {
  queue_link* before = nullptr;
  queue_link* behind = nullptr;
};

/// A queue.
struct queue_ends {
  queue_link* first = nullptr;
  queue_link* last = nullptr;

  bool empty() const noexcept { return first == nullptr; }
  void append(queue_link& l) noexcept {
    l = {last, nullptr};
    (last == nullptr ? first : last->behind) = &l;
    last = &l;
  }
  void remove(queue_link& l) noexcept {
    (l.before == nullptr ? first : l.before->behind) = l.behind;
    (l.behind == nullptr ? last : l.behind->before) = l.before;
  }
};

struct queue_key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const queue_key&, const queue_key&) = default;
};

class queue_table {
public:
  /// Room for so many more keys. May throw std::bad_alloc; then nothing has changed.
  void reserve(std::size_t keys = 1) {
    if (4 * (used_ + keys) > 3 * capacity_) [[unlikely]]
      rebuild(keys);
  }
  /// The queue of `key`, made if there is none. After reserve(). Valid until the next reserve().
  queue_ends& at(const queue_key& key) noexcept;
  /// The same; nullptr if there is none. It may be empty.
  queue_ends* find(const queue_key& key) noexcept;
  /// How many keys have an entry; those of empty queues count until reserve() forgets them.
  std::size_t keys() const noexcept { return used_; }

private:
  struct entry {
    queue_key key;
    queue_ends queue;
    bool used = false;
  };
  entry& slot_of(const queue_key& key) noexcept;
  void rebuild(std::size_t more);

  std::unique_ptr<entry[]> entries_;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t used_ = 0;
};

}  // namespace shoal::rank
