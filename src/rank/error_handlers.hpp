// SPDX-License-Identifier: Apache-2.0
// Error handlers of MPI: predefined ones, and functions of the program.
// Who may call: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "mpi-abi/mpi.h"
#include "rank/handle.hpp"
#include "rank/program_call.hpp"

namespace shoal::rank {

class error_handler final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::error_handler;
  static constexpr int k_error = MPI_ERR_ERRHANDLER;
  static constexpr const char* k_name = "error handler";

  using function = void(void* handle, int* code, ...);
  explicit error_handler(function* f) noexcept : handle_object(k_kind), run(f) {}

  void operator()(void* handle, int* code) const {
    call_program([&] {
      through != nullptr ? through(run, handle, code) : run(handle, code);
      return 0;
    });
  }

  function* const run;
  /// How `run` is called if it is no function of C.
  void (*through)(function* f, void* handle, int* code) = nullptr;
  std::atomic<std::uint32_t> references{0};  // partners: whoever has it
};

/// Keeps an error handler; a predefined one is its number.
class error_handler_ref {
public:
  error_handler_ref() = default;
  explicit error_handler_ref(MPI_Errhandler h) : handle_(h) {
    if (object() != nullptr) object()->references.fetch_add(1, std::memory_order_relaxed);
  }
  error_handler_ref(const error_handler_ref& other) : error_handler_ref(other.handle_) {}
  error_handler_ref(error_handler_ref&& other) noexcept : handle_(std::exchange(other.handle_, MPI_ERRHANDLER_NULL)) {}
  error_handler_ref& operator=(error_handler_ref other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~error_handler_ref() {
    if (error_handler* const o = object(); o != nullptr && o->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete o;
  }
  MPI_Errhandler handle() const noexcept { return handle_; }
  /// nullptr: predefined, or none.
  error_handler* object() const noexcept {
    return is_predefined(handle_) ? nullptr : static_cast<error_handler*>(reinterpret_cast<handle_object*>(handle_));
  }
  bool is_none() const noexcept { return handle_ == MPI_ERRHANDLER_NULL; }

private:
  MPI_Errhandler handle_ = MPI_ERRHANDLER_NULL;
};

}  // namespace shoal::rank
