// SPDX-License-Identifier: Apache-2.0
// For ThreadSanitizer builds of the project; empty elsewhere. All stacks of a worker use the worker's own state
// (streams, window, deque) in turn. TSan treats stacks as threads without an order between them, and would report
// races.
// Who may call: the library's own code, around accesses to a worker's state. TSan still sees atomics.
#pragma once

#if SHOAL_TSAN
extern "C" {  // ThreadSanitizer's run-time library; no header declares them
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void __tsan_release(void* address);
void __tsan_acquire(void* address);
}
#endif

namespace shoal::detail {

/// During its lifetime TSan ignores plain accesses of this stack: for the scheduler, whose state belongs to the thread
/// while TSan thinks in stacks. Atomics are still seen.
class tsan_ignore_scope {
public:
#if SHOAL_TSAN
  tsan_ignore_scope() noexcept {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~tsan_ignore_scope() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  tsan_ignore_scope() noexcept {}
  ~tsan_ignore_scope() {}
#endif
  tsan_ignore_scope(const tsan_ignore_scope&) = delete;
  tsan_ignore_scope& operator=(const tsan_ignore_scope&) = delete;
};

/// Marks for a hand-over that TSan cannot see: release before a task is offered, woken or ends; acquire where it is
/// taken, resumed or joined.
inline void release_to([[maybe_unused]] void* address) noexcept {
#if SHOAL_TSAN
  __tsan_release(address);
#endif
}
inline void acquire_from([[maybe_unused]] void* address) noexcept {
#if SHOAL_TSAN
  __tsan_acquire(address);
#endif
}

}  // namespace shoal::detail
