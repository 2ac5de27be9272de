// SPDX-License-Identifier: Apache-2.0
#include "shoal/locks/thread_wait.hpp"

#include "machine/futex.hpp"
#include "machine/membarrier.hpp"

namespace shoal::detail {

// These reach the system directly, not through an executor: the locks are used outside of any runtime, too. A lock whose
// waiters must not block their thread takes another wait policy.
void lock_yield() noexcept { machine::yield_processor(); }

// Without a process-wide fence an unlock may miss a thread that is about to block; that thread then times out and
// checks again.
void lock_sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  constexpr std::int64_t k_look_again_ns = 1'000'000;
  machine::futex_wait(word, expected, machine::can_fence_all() ? machine::k_no_timeout : k_look_again_ns, false);
}

void lock_wake(std::atomic<std::uint32_t>* word, int count) noexcept { machine::futex_wake(*word, count, false); }

void lock_fence_all() noexcept {
  if (machine::can_fence_all())
    machine::heavy_fence();
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace shoal::detail
