// SPDX-License-Identifier: Apache-2.0
// A datatype of MPI: which bytes of memory belong to an element, in which order. It is kept as parts, each a row of
// equal blocks at equal distances, and how often the parts are repeated; so copies are loops over blocks.
// Who may call: any thread; an object does not change but for its commit. The functions of copies are in layout.hpp.
// Complexity: memory and making O(parts); the parts of a vector are those of one of its blocks.
// Source: MPI 5.0, chapter 5. Test: tests/unit/rank/datatype_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/datatype/basic.hpp"
#include "rank/handle.hpp"

namespace shoal::rank {

class datatype;

/// Keeps a datatype that is not predefined; null for those that are.
class type_ref {
public:
  type_ref() = default;
  explicit type_ref(const datatype* of) noexcept;
  type_ref(const type_ref& other) noexcept : type_ref(other.of_) {}
  type_ref(type_ref&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  type_ref& operator=(type_ref other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~type_ref();
  const datatype* get() const noexcept { return of_; }
  const datatype& operator*() const noexcept { return *of_; }
  const datatype* operator->() const noexcept { return of_; }

private:
  const datatype* of_ = nullptr;
};

/// `count` blocks of `bytes` bytes, the first at `offset`, `stride` bytes from one to the next.
struct type_part {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;
  std::int64_t stride = 0;

  std::uint64_t size() const noexcept { return bytes * count; }
};

/// `count` elements of one kind, in the order of the packed bytes.
struct type_run {
  basic kind = basic::none;
  std::uint64_t count = 0;
};

/// Where the bytes of a type lie: these parts, `times` times, `distance` bytes from one time to the next.
struct type_layout {
  std::vector<type_part> parts;
  std::uint64_t times = 1;
  std::int64_t distance = 0;
};

/// Its elements, in the order of the packed bytes: these runs, `times` times.
struct type_elements {
  std::vector<type_run> runs;
  std::uint64_t times = 1;
};

/// Bounds, in bytes from the type's address. `set`: by the program, in the type or in one of those it consists of.
struct type_bounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool set = false;
};

/// How it was made: the arguments of its constructor.
struct type_origin {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> integers;   // int in both forms of the function
  std::vector<std::int64_t> addresses;  // MPI_Aint in the form with int counts
  std::vector<std::int64_t> counts;     // int or MPI_Aint there, MPI_Count in the large one
  bool large = false;                   // made with large counts: only MPI_Type_get_contents_c shows it
  std::vector<MPI_Datatype> handles;    // of the predefined ones
  std::vector<type_ref> types;          // null where predefined
};

class datatype final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::datatype;
  static constexpr int k_error = MPI_ERR_TYPE;
  static constexpr const char* k_name = "datatype";

  /// A predefined one; with an origin: one of those that MPI_Type_create_f90_real and its like choose.
  explicit datatype(const predefined_type& p, type_origin origin = {});
  datatype(type_layout layout, type_elements elements, const type_bounds& bounds, type_origin origin);
  ~datatype() = default;

  std::uint64_t size() const noexcept { return size_; }
  std::int64_t lower() const noexcept { return lower_; }
  std::int64_t extent() const noexcept { return extent_; }
  bool has_set_bounds() const noexcept { return bounds_set_; }
  std::int64_t true_lower() const noexcept { return true_lower_; }
  std::int64_t true_extent() const noexcept { return true_extent_; }
  /// Elements lie one behind the other without gaps, from their address on.
  bool is_solid() const noexcept { return solid_; }
  /// The kind of all its elements; none if they differ.
  basic kind() const noexcept { return elements_.runs.size() == 1 ? elements_.runs.front().kind : basic::none; }

  const type_layout& layout() const noexcept { return layout_; }
  const type_elements& elements() const noexcept { return elements_; }
  /// Bytes in the layout's parts before each, and in all of them.
  std::span<const std::uint64_t> begins() const noexcept { return begins_; }
  const type_origin& origin() const noexcept { return origin_; }
  bool is_predefined() const noexcept { return predefined_ != nullptr; }
  const predefined_type* predefined() const noexcept { return predefined_; }

  bool is_committed() const noexcept { return committed_; }
  void commit() noexcept { committed_ = true; }
  /// Empty: not named by the program.
  std::string name;

  void add_reference() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() const noexcept {
    // Release, acquire: other uses come before the end.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

private:
  type_layout layout_;
  type_elements elements_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t size_ = 0;
  std::int64_t lower_ = 0;
  std::int64_t extent_ = 0;
  std::int64_t true_lower_ = 0;
  std::int64_t true_extent_ = 0;
  bool bounds_set_ = false;
  bool solid_ = false;
  bool committed_ = false;
  const predefined_type* predefined_ = nullptr;
  type_origin origin_;
  mutable std::atomic<std::uint32_t> references_{0};  // partners: whoever uses it
};

inline type_ref::type_ref(const datatype* of) noexcept : of_(of == nullptr || of->is_predefined() ? nullptr : of) {
  if (of_ != nullptr) of_->add_reference();
}
inline type_ref::~type_ref() {
  if (of_ != nullptr) of_->drop_reference();
}

/// The datatype of a handle; throws mpi_error.
const datatype& type_of(MPI_Datatype handle);
MPI_Datatype handle_of_type(const datatype& t) noexcept;

}  // namespace shoal::rank
