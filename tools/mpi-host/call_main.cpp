// SPDX-License-Identifier: Apache-2.0
// The frame below main() in a rank. Its table for unwinding says that nothing called it: an exception that a program does
// not catch ends the process where it is thrown, as in a program by itself, and not in a frame of the host; and debuggers
// show no more.
#include "tools/mpi-host/call_main.hpp"

namespace shoal::host {

int call_main(int (*program)(int, char**, char**), int argc, char** argv, char** environment) {
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
  asm volatile(".cfi_undefined x30");
#else
#error "name the register of the return address"
#endif
  const volatile int status = program(argc, argv, environment);  // a call, not a jump
  return status;
}

}  // namespace shoal::host
