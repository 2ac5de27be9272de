// SPDX-License-Identifier: Apache-2.0
// An error of an MPI function: its class, as in mpi.h, and one sentence. Thrown inside; the C functions hand the class
// to the error handler of their communicator.
// Who may call: anybody. Nothing here switches tasks.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace shoal::rank {

class mpi_error final : public std::exception {
public:
  mpi_error(int code, std::string text) : code_(code), text_(std::move(text)) {}
  /// An error class of mpi.h, or a code that the program has added.
  int code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

private:
  int code_;
  std::string text_;
};

}  // namespace shoal::rank
