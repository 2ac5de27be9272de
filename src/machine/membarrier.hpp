// SPDX-License-Identifier: Apache-2.0
// A fence that one thread executes for all threads of the process: membarrier(2). It pairs with code that keeps only
// the compiler from reordering: the frequent side pays nothing, the rare side a system call (about a microsecond per
// core).
//   frequent:  store A;  light_fence();  load B          rare:  store B;  heavy_fence();  load A
// Guarantees: one of the two loads sees the other side's store. Threads of this process only: between processes both
// sides need std::atomic_thread_fence(seq_cst). Who may call: any thread; heavy_fence only where a thread is about to
// sleep or at set-up. Never switches tasks. Kernels without membarrier (or that forbid it) get a change of a page's
// protection, which interrupts the same cores. Shown by tests/unit/machine/membarrier_test.cpp.
#pragma once

#include <atomic>

namespace shoal::machine {

/// Partner: heavy_fence().
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Partner: light_fence(), or any code of another thread between two of its instructions.
void heavy_fence() noexcept;

}  // namespace shoal::machine
