// SPDX-License-Identifier: Apache-2.0
// A rank that sleeps leaves its worker to other ranks; one thread of the process wakes the sleepers in time.
// Who may call: sleep_until() a rank's task, which it switches; note_interruption() and ring() also signal handlers.
// Shown by tests/conformance/sleeps.c.
#pragma once

#include <cstdint>

#include "tools/mpi-host/rank_libc.hpp"

namespace shoal::host {

/// The clock of sleeps, CLOCK_MONOTONIC.
std::uint64_t sleep_clock_ns() noexcept;
enum class sleep_end : int { not_a_rank = 0, in_time = 1, interrupted = 2, interrupted_to_restart = 3 };
/// not_a_rank: nothing was done; the caller is no rank's task, or nobody else needs its worker.
sleep_end sleep_until(std::uint64_t until_ns) noexcept;

/// A signal handler of that rank of the process has run: its sleep ends, after ring_sleepers().
void note_interruption(unsigned local, interruption how) noexcept;
void ring_sleepers() noexcept;

}  // namespace shoal::host
