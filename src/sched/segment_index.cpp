// SPDX-License-Identifier: Apache-2.0
#include "sched/segment_index.hpp"

#include <algorithm>

namespace shoal::sched {

segment_index::leaf* segment_index::new_leaf() {
  if (leaves_used_ == leaves_.size()) leaves_.emplace_back();
  leaf* l = &leaves_[leaves_used_++];
  l->count = 0;
  l->next = nullptr;
  return l;
}

segment_index::inner* segment_index::new_inner() {
  if (inners_used_ == inners_.size()) inners_.emplace_back();
  inner* i = &inners_[inners_used_++];
  i->count = 0;
  return i;
}

void segment_index::clear() noexcept {
  leaves_used_ = inners_used_ = 0;
  first_ = nullptr;
  root_ = nullptr;
  height_ = 0;
  last_found_ = nullptr;
  from_ = to_ = 0;
}

// How many segments of the leaf begin at the address or below.
std::uint32_t segment_index::position(const leaf& l, std::uintptr_t address) noexcept {
  return static_cast<std::uint32_t>(std::upper_bound(l.begins, l.begins + l.count, address) - l.begins);
}

segment_index::leaf& segment_index::descend(std::uintptr_t address) {
  if (root_ == nullptr) root_ = first_ = new_leaf();
  from_ = 0;
  to_ = UINTPTR_MAX;
  void* at = root_;
  for (unsigned level = height_; level > 0; --level) {
    const inner& node = *static_cast<inner*>(at);
    const std::uintptr_t* const begins = node.begins + 1;
    const auto child = static_cast<std::uint32_t>(std::upper_bound(begins, begins + node.count - 1, address) - begins);
    if (child > 0) from_ = node.begins[child];
    if (child + 1 < node.count) to_ = node.begins[child + 1];
    at = node.children[child];
  }
  last_found_ = static_cast<leaf*>(at);
  return *last_found_;
}

// Splits the leaf where `begin` belongs, and on the way there every node that is full, so that each parent has room.
void segment_index::make_room(std::uintptr_t begin) {
  const bool root_is_full = height_ == 0 || static_cast<inner*>(root_)->count == k_inner;
  if (root_is_full) {
    inner* const root = new_inner();
    root->count = 1;
    root->children[0] = root_;
    root_ = root;
    ++height_;
  }
  from_ = to_ = 0;
  void* at = root_;
  for (unsigned level = height_; level > 0; --level) {
    inner& node = *static_cast<inner*>(at);
    const auto child_of = [&node, begin] {
      const std::uintptr_t* const begins = node.begins + 1;
      return static_cast<std::uint32_t>(std::upper_bound(begins, begins + node.count - 1, begin) - begins);
    };
    const std::uint32_t child = child_of();
    if (level == 1 || static_cast<inner*>(node.children[child])->count == k_inner)
      split_child(node, child, level == 1, begin);
    at = node.children[child_of()];
  }
}

void segment_index::split_child(inner& parent, std::uint32_t at, bool of_leaves, std::uintptr_t begin) {
  void* right = nullptr;
  std::uintptr_t right_begin = 0;
  if (of_leaves) {
    auto& from = *static_cast<leaf*>(parent.children[at]);
    leaf* const to = new_leaf();
    // Ascending beginnings fill their leaves.
    const std::uint32_t kept = begin > from.begins[from.count - 1] ? from.count : from.count / 2;
    right_begin = kept == from.count ? begin : from.begins[kept];
    to->count = from.count - kept;
    std::copy_n(from.begins + kept, to->count, to->begins);
    std::copy_n(from.segments + kept, to->count, to->segments);
    from.count = kept;
    to->next = from.next;
    from.next = to;
    right = to;
  } else {
    auto& from = *static_cast<inner*>(parent.children[at]);
    inner* const to = new_inner();
    const std::uint32_t kept = from.count / 2;
    right_begin = from.begins[kept];
    to->count = from.count - kept;
    std::copy_n(from.begins + kept, to->count, to->begins);
    std::copy_n(from.children + kept, to->count, to->children);
    from.count = kept;
    right = to;
  }
  for (std::uint32_t i = parent.count++; i > at + 1; --i) {
    parent.begins[i] = parent.begins[i - 1];
    parent.children[i] = parent.children[i - 1];
  }
  parent.begins[at + 1] = right_begin;
  parent.children[at + 1] = right;
}

}  // namespace shoal::sched
