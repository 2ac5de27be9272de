// SPDX-License-Identifier: Apache-2.0
// Every function of the standard ABI that no other file defines: it reports MPI_ERR_UNSUPPORTED_OPERATION. They are weak, so
// that a definition takes their place, and lie in a section of their own, so that function_list.cpp can tell which
// functions have one.
#include <fmt/format.h>

#include <string_view>

#include "base/log.hpp"
#include "rank/abi/entry.hpp"

namespace shoal::rank::abi {

constexpr const char* k_missing = "this library does not have the function yet";

int refuse(const char* function) noexcept {
  return enter([](caller&) { throw mpi_error(MPI_ERR_UNSUPPORTED_OPERATION, k_missing); }, function);
}

// Errors of files are returned unless the program says otherwise (MPI 5.0, 14.7), and many programs do not look: the
// first in a process is said.
int refuse_file(const char* function) noexcept {
  const int entered = enter(
      [function](caller& c) {
        if (c.me.job.has_refused_file.exchange(true, std::memory_order_relaxed)) return;
        base::write_line("",
                         fmt::format("rank {}: {}: {}; it returns MPI_ERR_UNSUPPORTED_OPERATION, as other functions "
                                     "of files do",
                                     c.me.world, function + 1, k_missing));
      },
      function);
  return entered == MPI_SUCCESS ? MPI_ERR_UNSUPPORTED_OPERATION : entered;
}

template <class Result>
Result refused(const char* function) noexcept {
  const int code = std::string_view(function).starts_with("PMPI_File_") ? refuse_file(function) : refuse(function);
  if constexpr (std::is_same_v<Result, int>)
    return code;
  else
    return Result{};
}

}  // namespace shoal::rank::abi

extern "C" {
#define MPI_ABI_REFUSED [[gnu::weak, gnu::section("mpi_unsupported"), gnu::visibility("default")]]
#define MPI_ABI_FUNCTION(result, name, parameters)                                                           \
  MPI_ABI_REFUSED result PMPI_##name parameters { return shoal::rank::abi::refused<result>("PMPI_" #name); } \
  MPI_ABI_REFUSED result MPI_##name parameters { return shoal::rank::abi::refused<result>("PMPI_" #name); }
#define MPI_ABI_COUNTED(result, name, parameters) MPI_ABI_FUNCTION(result, name, parameters)
#define MPI_ABI_COUNT int
#define MPI_ABI_PLACE int
#define MPI_ABI_WIDE MPI_Aint
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "mpi-abi/functions/all.inc"

#include "mpi-abi/functions/large.inc"
#define MPI_ABI_COUNTED(result, name, parameters)                                                                     \
  MPI_ABI_REFUSED result PMPI_##name##_c parameters { return shoal::rank::abi::refused<result>("PMPI_" #name "_c"); } \
  MPI_ABI_REFUSED result MPI_##name##_c parameters { return shoal::rank::abi::refused<result>("PMPI_" #name "_c"); }
#include "mpi-abi/functions/all.inc"

#include "mpi-abi/functions/end.inc"
}
