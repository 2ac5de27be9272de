// SPDX-License-Identifier: Apache-2.0
// Functions of Shoal's own, MPIX_ in C and mpix_ in Fortran.
#include "rank/abi/arguments.hpp"

using namespace shoal::rank::abi;  // NOLINT: the functions of a C interface

extern "C" {

int PMPIX_Yield(void) { return enter(give_way); }
[[gnu::alias("PMPIX_Yield"), gnu::visibility("default")]] int MPIX_Yield(void);

[[gnu::visibility("default")]] void pmpix_yield_(int* ierror);
void pmpix_yield_(int* ierror) {
  const int code = PMPIX_Yield();
  if (ierror != nullptr) *ierror = code;
}
[[gnu::alias("pmpix_yield_"), gnu::visibility("default")]] void mpix_yield_(int* ierror);
}
