// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber.hpp"

#include <cxxabi.h>

#include <cerrno>
#include <new>

#if SHOAL_TSAN
extern "C" char __libc_single_threaded;  // of glibc's <sys/single_threaded.h>
extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* at, unsigned long bytes,
                                        const char* what);  // NOLINT: as ThreadSanitizer's run-time library has it
#endif

namespace shoal::fiber {

exception_state* exception_state_of_this_thread() noexcept {
  return reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

void prepare(fiber& f, std::byte* bottom, std::byte* top, entry_function entry) noexcept {
#if SHOAL_ASAN
  // Frames of a pool that has ended may have left their red zones here, also where its stacks had another size.
  __asan_unpoison_memory_region(bottom, static_cast<std::size_t>(top - bottom));
#endif
  top -= sizeof(stack_notes);
  f.notes = new (top) stack_notes;
  f.notes->bottom = bottom;
  f.notes->of = &f;
  const auto bytes = static_cast<std::size_t>(top - bottom);
  f.context = make_context(top, bytes, entry);
  f.exceptions = {};
#if SHOAL_TSAN
  __libc_single_threaded = 0;  // or std::shared_ptr counts without atomics, which TSan takes for races between tasks
  if (f.sanitizer.tsan == nullptr) f.sanitizer.tsan = __tsan_create_fiber(0);
#endif
#if SHOAL_ASAN
  f.sanitizer.bottom = bottom;
  f.sanitizer.bytes = bytes;
#endif
}

void adopt_thread(fiber& f, stack_notes& notes) noexcept {
  f.notes = &notes;
  notes.of = &f;
#if SHOAL_TSAN
  f.sanitizer.tsan = __tsan_get_current_fiber();
  // The stacks of a thread use it in turn, each with its own value, which lies elsewhere while others run.
  AnnotateBenignRaceSized(__FILE__, __LINE__, &errno, sizeof errno, "errno of a thread that has several stacks");
#endif
#if SHOAL_ASAN
  // The bounds of a thread's own stack: what ASan itself reports on the first switch away (see after_switch).
  f.sanitizer.bottom = nullptr;
#endif
}

SHOAL_NO_TSAN void forget([[maybe_unused]] fiber& f) noexcept {
#if SHOAL_TSAN
  if (f.sanitizer.tsan != nullptr && f.sanitizer.unwatched_for_ever) {
    // TSan takes a fiber that ends while it ignores accesses for a mistake: end that in its name.
    void* const me = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f.sanitizer.tsan, __tsan_switch_to_fiber_no_sync);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    __tsan_switch_to_fiber(me, __tsan_switch_to_fiber_no_sync);
    f.sanitizer.unwatched_for_ever = false;
  }
  if (f.sanitizer.tsan != nullptr && f.notes->bottom != nullptr) __tsan_destroy_fiber(f.sanitizer.tsan);
  f.sanitizer.tsan = nullptr;
#endif
#if SHOAL_ASAN
  // Frames that exceptions or a switch have left have their red zones here still; the memory will be used for others.
  std::byte* const bottom = f.notes->bottom;
  if (bottom != nullptr)
    __asan_unpoison_memory_region(bottom, static_cast<std::size_t>(reinterpret_cast<std::byte*>(f.notes) - bottom));
#endif
}

#if SHOAL_ASAN
namespace {
// The fiber that was left last on this thread: its bounds are learnt at the arrival on the next one.
thread_local fiber* t_left = nullptr;
}  // namespace
#endif

SHOAL_NO_TSAN void detail::before_switch([[maybe_unused]] fiber& from, [[maybe_unused]] fiber& to) noexcept {
#if SHOAL_TSAN
  __tsan_switch_to_fiber(to.sanitizer.tsan, __tsan_switch_to_fiber_no_sync);
#endif
#if SHOAL_ASAN
  t_left = &from;
  __sanitizer_start_switch_fiber(&from.sanitizer.fake_stack, to.sanitizer.bottom, to.sanitizer.bytes);
#endif
}

void detail::after_switch([[maybe_unused]] fiber& to) noexcept {
#if SHOAL_ASAN
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(to.sanitizer.fake_stack, &bottom, &bytes);
  if (t_left != nullptr && t_left->sanitizer.bottom == nullptr) {
    t_left->sanitizer.bottom = bottom;
    t_left->sanitizer.bytes = bytes;
  }
#endif
}

}  // namespace shoal::fiber
