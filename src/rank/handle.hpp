// SPDX-License-Identifier: Apache-2.0
// Objects behind the handles of MPI: a handle is the address of its object, and the object begins with a mark of its
// kind, so that a wrong handle is found. Predefined handles are small numbers, which have no object of their own.
// Who may call: anybody. Nothing here switches tasks.
// Limits: a handle that is no address of mapped memory is not found out; one that was freed is, until its memory is
// used again. Test: tests/unit/rank/abi_test.cpp.
#pragma once

#include <cstdint>

#include "rank/error.hpp"

namespace shoal::rank {

/// What a handle names; the values are unlikely as data.
enum class object_kind : std::uint64_t {
  freed = 0xd1ed'0b1e'c700'0000,
  communicator = 0x5b0a'1c03'a000'0001,
  group,
  datatype,
  operation,
  request,
  message,
  info,
  error_handler,
  session,
  window,
  file
};

/// The first base of such an object.
class handle_object {
public:
  explicit handle_object(object_kind k) noexcept : kind_(k) {}
  handle_object(const handle_object&) = delete;
  handle_object& operator=(const handle_object&) = delete;
  object_kind kind() const noexcept { return kind_; }
  /// For objects whose memory is kept: another kind, or freed.
  void revive(object_kind k) noexcept { kind_ = k; }

protected:
  // Written even though the object ends: a later use of the handle then fails.
  ~handle_object() { *const_cast<volatile object_kind*>(&kind_) = object_kind::freed; }

private:
  object_kind kind_;
};

/// Handles below this are predefined.
inline constexpr std::uintptr_t k_predefined_end = 4096;
template <class Handle>
bool is_predefined(Handle h) noexcept {
  return reinterpret_cast<std::uintptr_t>(h) < k_predefined_end;
}

/// The object of a handle that is not predefined. T has: k_kind, its object_kind; k_error, the error class of a wrong
/// handle; k_name, as messages say.
template <class T, class Handle>
T& object_of(Handle h) {
  auto* const at = reinterpret_cast<handle_object*>(h);
  if (is_predefined(h) || reinterpret_cast<std::uintptr_t>(h) % alignof(handle_object) != 0)
    throw mpi_error(T::k_error, std::string("no handle of a ") + T::k_name);
  if (at->kind() != T::k_kind)
    throw mpi_error(
        T::k_error,
        std::string(at->kind() == object_kind::freed ? "a freed handle of a " : "no handle of a ") + T::k_name);
  return static_cast<T&>(*at);
}
template <class Handle>
Handle handle_of(handle_object& o) noexcept {
  return reinterpret_cast<Handle>(&o);
}

}  // namespace shoal::rank
