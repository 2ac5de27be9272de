// SPDX-License-Identifier: Apache-2.0
// The operations of reductions: predefined ones on the kinds of elements that the standard permits, and functions of the
// program.
// Who may call: any thread; a program's function runs in combine().
// Complexity: O(count); the loops of numbers are vectorized.
// Source: MPI 5.0, 6.9. Test: tests/unit/rank/operation_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "mpi-abi/mpi.h"
#include "rank/datatype/datatype.hpp"
#include "rank/handle.hpp"

namespace shoal::rank {

class operation final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::operation;
  static constexpr int k_error = MPI_ERR_OP;
  static constexpr const char* k_name = "operation";

  explicit operation(MPI_User_function* f, bool commutative) noexcept
      : handle_object(k_kind), small(f), commutes(commutative) {}
  explicit operation(MPI_User_function_c* f, bool commutative) noexcept
      : handle_object(k_kind), large(f), commutes(commutative) {}

  MPI_User_function* const small = nullptr;
  MPI_User_function_c* const large = nullptr;
  /// How these are called if they are no functions of C.
  void (*through)(MPI_User_function* f, void* from, void* into, int* count, MPI_Datatype type) = nullptr;
  void (*large_through)(MPI_User_function_c* f, void* from, void* into, MPI_Count* count, MPI_Datatype type) = nullptr;
  const bool commutes;
  std::atomic<std::uint32_t> references{1};  // partners: its handle, and reductions that have not ended
};

/// An operation, kept while a reduction needs it.
class operation_ref {
public:
  operation_ref() = default;
  /// Throws MPI_ERR_OP.
  explicit operation_ref(MPI_Op op);
  operation_ref(const operation_ref& other) noexcept;
  operation_ref(operation_ref&& other) noexcept : op_(std::exchange(other.op_, MPI_OP_NULL)) {}
  operation_ref& operator=(operation_ref other) noexcept {
    std::swap(op_, other.op_);
    return *this;
  }
  ~operation_ref();

  MPI_Op handle() const noexcept { return op_; }
  bool commutes() const noexcept;
  /// Throws MPI_ERR_OP if it is not defined on such elements.
  void check(const datatype& type) const;
  /// into[i] = from[i] op into[i]; `from` is of the lower ranks.
  void combine(const void* from, void* into, MPI_Count count, const datatype& type) const;

private:
  MPI_Op op_ = MPI_OP_NULL;
};

}  // namespace shoal::rank
