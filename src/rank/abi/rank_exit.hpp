// SPDX-License-Identifier: Apache-2.0
// Where exit() in a rank goes: back to the call of its main(), on the same stack. No destructors of the program's local
// objects run, as in any C++ program.
#pragma once

#include <csetjmp>

namespace shoal::rank {

struct rank_exit {
  jmp_buf place;
  int status = 0;
};

}  // namespace shoal::rank
