/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into MPI programs: names the loader, so that a shared object can also be started as a program. */
#if defined(__x86_64__)
const char shoal_interpreter[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2";
#elif defined(__aarch64__)
const char shoal_interpreter[] __attribute__((section(".interp"))) = "/lib/ld-linux-aarch64.so.1";
#else
#error "the name of this system's loader is not known"
#endif
