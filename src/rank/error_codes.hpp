// SPDX-License-Identifier: Apache-2.0
// The error classes and codes that the program of a rank has added, with their texts.
// Who may call: any thread of the rank. Nothing here switches tasks. Errors: mpi_error.
// Source: MPI 5.0, 9.5: they are local to an MPI process, here a rank. Test: tests/conformance/errors.c.
#pragma once

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "mpi-abi/mpi.h"
#include "rank/error.hpp"

namespace shoal::rank {

class error_codes {
public:
  /// A new code of that class.
  int add_code(int error_class) {
    const std::lock_guard hold(mutex_);
    all_[next_] = {error_class, {}};
    return next_++;
  }
  int add_class() {
    const std::lock_guard hold(mutex_);
    all_[next_] = {next_, {}};
    return next_++;
  }
  /// Whether there is one. What is not nullptr is set.
  bool find(int code, int* error_class, std::string* text) {
    const std::lock_guard hold(mutex_);
    const auto at = all_.find(code);
    if (at == all_.end()) return false;
    if (error_class != nullptr) *error_class = at->second.error_class;
    if (text != nullptr) *text = at->second.text;
    return true;
  }
  void set_text(int code, std::string text) {
    const std::lock_guard hold(mutex_);
    const auto at = all_.find(code);
    if (at == all_.end()) refuse(code);
    at->second.text = std::move(text);
  }
  /// One that has neither a text nor codes of its class.
  void remove(int code) {
    const std::lock_guard hold(mutex_);
    const auto at = all_.find(code);
    if (at == all_.end()) refuse(code);
    if (!at->second.text.empty())
      throw mpi_error(MPI_ERR_ARG,
                      fmt::format("the error code {} has a string; MPI_Remove_error_string comes first", code));
    for (const auto& [other, e] : all_)
      if (other != code && e.error_class == code)
        throw mpi_error(MPI_ERR_ARG, fmt::format("the error class {} has the code {}; remove that first", code, other));
    all_.erase(at);
  }
  /// MPI_LASTUSEDCODE.
  int last() {
    const std::lock_guard hold(mutex_);
    return next_ - 1;
  }

private:
  struct entry {
    int error_class;
    std::string text;
  };
  [[noreturn]] static void refuse(int code) {
    throw mpi_error(MPI_ERR_ARG, fmt::format("{} is no error code that the program has added", code));
  }

  std::mutex mutex_;  // threads of the rank
  std::map<int, entry> all_;
  int next_ = MPI_ERR_LASTCODE + 1;
};

}  // namespace shoal::rank
