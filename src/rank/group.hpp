// SPDX-License-Identifier: Apache-2.0
// A group of MPI: ranks of the world in an order. Shared by the ranks of a process, and constant.
// Who may call: any thread. Complexity: a group of ranks at equal distances (a range, each tenth, backwards) takes O(1)
// memory; another one O(n), and rank_of() takes O(log n) there.
// Source: MPI 5.0, 7.3. Test: tests/unit/rank/group_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/handle.hpp"

namespace shoal::rank {

class group;

class group_ref {
public:
  group_ref() = default;
  group_ref(std::nullptr_t) noexcept {}
  explicit group_ref(group* of) noexcept;
  group_ref(const group_ref& other) noexcept : group_ref(other.of_) {}
  group_ref(group_ref&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  group_ref& operator=(group_ref other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~group_ref();
  group* get() const noexcept { return of_; }
  const group& operator*() const noexcept { return *of_; }
  const group* operator->() const noexcept { return of_; }
  friend bool operator==(const group_ref& a, std::nullptr_t) noexcept { return a.of_ == nullptr; }

private:
  group* of_ = nullptr;
};

class group final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::group;
  static constexpr int k_error = MPI_ERR_GROUP;
  static constexpr const char* k_name = "group";

  /// Ranks [first, first + count) of the world.
  static group_ref of_range(int first, int count);
  static group_ref of_ranks(std::vector<int> world);

  int size() const noexcept { return size_; }
  int world_of(int rank) const noexcept {
    return ranks_.empty() ? first_ + rank * stride_ : ranks_[static_cast<std::size_t>(rank)];
  }
  /// -1: it is no member.
  int rank_of(int world) const noexcept;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

private:
  group(int first, int count, int stride, std::vector<int> ranks);

  int first_;
  int size_;
  int stride_;                                 // from a rank to the next, not 0; if ranks_ is empty
  std::vector<int> ranks_;                     // empty: at equal distances
  std::vector<std::pair<int, int>> by_world_;  // sorted
  std::atomic<std::uint32_t> references_{0};   // partners: whoever has it
};

inline group_ref::group_ref(group* of) noexcept : of_(of) {
  if (of_ != nullptr) of_->add_reference();
}
inline group_ref::~group_ref() {
  if (of_ != nullptr) of_->drop_reference();
}

group_ref united(const group& a, const group& b);
group_ref intersected(const group& a, const group& b);
group_ref without(const group& a, const group& b);
/// Those ranks of `g`, in this order; or all others. Throws mpi_error (MPI_ERR_RANK).
group_ref chosen(const group& g, std::span<const int> ranks);
group_ref not_chosen(const group& g, std::span<const int> ranks);
/// The ranks of triples of first, last and stride.
std::vector<int> ranks_of(const group& g, std::span<const int[3]> ranges);
/// MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL.
int compare(const group& a, const group& b);

}  // namespace shoal::rank
