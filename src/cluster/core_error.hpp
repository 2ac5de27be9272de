// SPDX-License-Identifier: Apache-2.0
// Failures of the functions of shoal/core.h: a status for the caller, and a message in its shoal_error.
// Who may call: the functions of shoal/core.h. Does not switch tasks. Shown by tests/cluster/core_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "array/untyped_access.hpp"
#include "shoal/core.h"
#include "shoal/detail/port.hpp"

namespace shoal::cluster {

/// Fills `to`, which may be null, and returns the status.
int fail(shoal_error* to, int status, std::string_view message) noexcept;
/// The status of the exception that is being handled.
int fail_as_thrown(shoal_error* to) noexcept;
int fail_without_job(shoal_error* to) noexcept;
/// The status of a refused access; SHOAL_OK if there is no error.
int status_of(array::refusal r, shoal_error* to, std::uint64_t array, std::uint64_t index,
              std::uint64_t count = 1) noexcept;

/// Calls f(), which returns a status, as the body of a function of shoal/core.h: no exception leaves it.
template <class F>
int in_job(shoal_error* error, F&& f) noexcept {
  if (detail::t_port == nullptr) [[unlikely]]
    return fail_without_job(error);
  try {
    return f();
  } catch (...) {
    return fail_as_thrown(error);
  }
}

}  // namespace shoal::cluster
