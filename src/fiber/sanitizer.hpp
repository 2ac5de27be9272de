// SPDX-License-Identifier: Apache-2.0
// Calls that inform the sanitizers about switches of stacks, and about data that tasks pass to each other. Empty in
// ordinary builds. Who may call: fiber.cpp for the switch; sched for the hand-over marks (release before a task is
// offered, woken or ends; acquire where it is taken, resumed or joined). Switches are announced without
// synchronisation, so a race between two tasks of one worker is found; the marks give the order that the scheduler
// guarantees.
// Tests: the tsan and asan presets on tests/unit/sched and tests/stress.
#pragma once

#include <cstddef>

#include "shoal/detail/tsan_ignore.hpp"

#if SHOAL_TSAN
#include <sanitizer/tsan_interface.h>
#define SHOAL_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define SHOAL_NO_TSAN
#endif
#if SHOAL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace shoal::fiber {

using shoal::detail::acquire_from;
using shoal::detail::release_to;
using shoal::detail::tsan_ignore_scope;

/// The contrary, inside the scheduler: the program's own code runs while it lives.
class watched {
public:
#if SHOAL_TSAN
  watched() noexcept {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  ~watched() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
#else
  watched() noexcept {}
  ~watched() {}
#endif
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
};

/// What a sanitizer keeps per stack.
struct shadow {
#if SHOAL_TSAN
  void* tsan = nullptr;
  bool unwatched_for_ever = false;  // its first function has a `tsan_ignore_scope` and never returns
#endif
#if SHOAL_ASAN
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
#endif
};

}  // namespace shoal::fiber
