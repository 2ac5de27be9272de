// SPDX-License-Identifier: Apache-2.0
// GCC 12's leak checker takes a thread's dynamic TLS block that begins 16 bytes into a page for one of glibc 2.19, reads
// its bounds from what lies before it, and dies. Plugins bring such blocks, so here it leaves them out.

extern "C" const char* __lsan_default_options();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __lsan_default_options() { return "use_tls=0:print_suppressions=0"; }  // NOLINT
