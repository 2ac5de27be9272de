// SPDX-License-Identifier: Apache-2.0
// GCC 12's sanitizers take a thread's dynamic TLS block that begins 16 bytes into a page for one of glibc 2.19, and
// read its bounds from what lies before it: the leak checker dies of that, the thread sanitizer wants terabytes.
// Plugins bring such blocks, so here they are left out.

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_options();
extern "C" const char* __tsan_default_options();

extern "C" const char* __lsan_default_options() { return "use_tls=0:print_suppressions=0"; }
extern "C" const char* __tsan_default_options() { return "intercept_tls_get_addr=0"; }
// NOLINTEND(bugprone-reserved-identifier)
