// SPDX-License-Identifier: Apache-2.0
// A fence that one thread executes for all threads of the process: membarrier(2). It pairs with code that keeps only
// the compiler from reordering: the frequent side pays nothing, the rare side a system call (about a microsecond per
// core).
//   frequent:  store A;  light_fence();  load B          rare:  store B;  heavy_fence();  load A
// Guarantees, where can_fence_all(): one of the two loads sees the other side's store. Elsewhere (kernels without
// membarrier, or that forbid it) and between processes both sides need std::atomic_thread_fence(seq_cst); nothing else
// that interrupts cores is a fence on every machine. Who may call: any thread; heavy_fence only where a thread is about
// to sleep or at set-up. Never switches tasks. Shown by tests/unit/machine/membarrier_test.cpp.
#pragma once

#include <atomic>

namespace shoal::machine {

/// Whether heavy_fence() works here; the same for as long as the process lives.
bool can_fence_all() noexcept;

/// Partner: heavy_fence().
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Partner: light_fence(), or any code of another thread between two of its instructions. Only where can_fence_all().
void heavy_fence() noexcept;

}  // namespace shoal::machine
