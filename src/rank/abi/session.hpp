// SPDX-License-Identifier: Apache-2.0
// A session of MPI: what a rank that uses several libraries has once for each.
// Who may call: tasks of its rank.
// Source: MPI 5.0, 11.3. Test: tests/conformance/sessions.c.
#pragma once

#include <string>
#include <utility>

#include "mpi-abi/mpi.h"
#include "rank/error_handlers.hpp"
#include "rank/handle.hpp"
#include "rank/info.hpp"

namespace shoal::rank::abi {

struct session final : handle_object {
  static constexpr object_kind k_kind = object_kind::session;
  static constexpr int k_error = MPI_ERR_SESSION;
  static constexpr const char* k_name = "session";
  session(error_handler_ref e, std::string level)
      : handle_object(k_kind), errors(std::move(e)), thread_level(std::move(level)) {}

  error_handler_ref errors;
  const std::string thread_level;  // "MPI_THREAD_MULTIPLE"
};

/// What the hints ask for, and get.
std::string thread_level_of(const info_pairs& hints);

}  // namespace shoal::rank::abi
