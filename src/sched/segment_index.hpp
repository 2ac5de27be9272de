// SPDX-License-Identifier: Apache-2.0
// Disjoint segments of the address space in the order of their beginnings: a B+ tree without removal, which remembers
// the leaf it was last in, so that neighbours of the last segment cost no search.
// Who may call: one thread. Never switches tasks; insert() allocates.
// Guarantees: around() and insert() take O(log n); clear() keeps the memory for the next time.
// Shown by tests/unit/sched/segment_index_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace shoal::sched {

struct segment;

class segment_index {
public:
  struct leaf;
  /// Between two segments: the one that begins nearest below an address, or at it, and the first one beyond it. Good
  /// until the next insert().
  class place {
  public:
    segment* at_or_before() const noexcept { return at_ > 0 ? in_->segments[at_ - 1] : nullptr; }
    segment* after() const noexcept {
      if (at_ < in_->count) return in_->segments[at_];
      return in_->next != nullptr ? in_->next->segments[0] : nullptr;
    }

  private:
    friend class segment_index;
    leaf* in_;
    std::uint32_t at_;
  };

  place around(std::uintptr_t address) {
    place p;
    p.in_ = address >= from_ && address < to_ ? last_found_ : &descend(address);
    // What a leaf but the first begins with is never removed, so nothing before the leaf can be nearer.
    const std::uint32_t count = p.in_->count;
    p.at_ = count == 0 || address >= p.in_->begins[count - 1] ? count : position(*p.in_, address);
    return p;
  }

  /// `at` is around(begin), and no segment of the index begins there yet.
  void insert(place at, std::uintptr_t begin, segment& s) {
    if (at.in_->count == k_leaf) [[unlikely]] {
      make_room(begin);
      at = around(begin);
    }
    leaf& l = *at.in_;
    for (std::uint32_t i = l.count++; i > at.at_; --i) {
      l.begins[i] = l.begins[i - 1];
      l.segments[i] = l.segments[i - 1];
    }
    l.begins[at.at_] = begin;
    l.segments[at.at_] = &s;
  }
  void clear() noexcept;

  /// In order.
  template <class F>
  void for_each(F&& f) const {
    for (const leaf* l = first_; l != nullptr; l = l->next)
      for (std::uint32_t i = 0; i < l->count; ++i) f(*l->segments[i]);
  }

  static constexpr std::uint32_t k_leaf = 32;
  struct leaf {
    std::uint32_t count;
    leaf* next;
    std::uintptr_t begins[k_leaf];
    segment* segments[k_leaf];
  };

private:
  static constexpr std::uint32_t k_inner = 32;

  struct inner {
    std::uint32_t count;             // children
    std::uintptr_t begins[k_inner];  // of the children; the first one is not read
    void* children[k_inner];         // leaves at the lowest level
  };

  leaf* new_leaf();
  inner* new_inner();
  leaf& descend(std::uintptr_t address);
  static std::uint32_t position(const leaf& l, std::uintptr_t address) noexcept;
  void make_room(std::uintptr_t begin);
  void split_child(inner& parent, std::uint32_t at, bool of_leaves, std::uintptr_t begin);

  std::deque<leaf> leaves_;
  std::deque<inner> inners_;
  std::size_t leaves_used_ = 0;
  std::size_t inners_used_ = 0;
  leaf* first_ = nullptr;
  void* root_ = nullptr;  // a leaf if the height is zero
  unsigned height_ = 0;
  leaf* last_found_ = nullptr;  // holds what begins in [from_, to_)
  std::uintptr_t from_ = 0;
  std::uintptr_t to_ = 0;
};

}  // namespace shoal::sched
