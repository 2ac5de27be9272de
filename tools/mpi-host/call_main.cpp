// SPDX-License-Identifier: Apache-2.0
// The frame below main() in a rank. It is compiled without tables for unwinding: an exception that a program does not catch
// ends the process where it is thrown, as in a program by itself, and not in a frame of the host.
#include "tools/mpi-host/call_main.hpp"

namespace shoal::host {

int call_main(int (*program)(int, char**, char**), int argc, char** argv, char** environment) {
  const volatile int status = program(argc, argv, environment);  // a call, not a jump
  return status;
}

}  // namespace shoal::host
