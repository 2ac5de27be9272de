// SPDX-License-Identifier: Apache-2.0
// Functions that do nothing, for the breakpoints of tools/mpi-host/gdb/.
// Who may call: any thread. Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

extern "C" {
/// A job is about to end early, for that reason; all its tasks are still there.
[[gnu::visibility("default")]] void shoal_debug_stop(const char* why) noexcept;
/// All ranks of this process have their copies of the program, and none has begun main(). Only under a debugger.
[[gnu::visibility("default")]] void shoal_debug_loaded() noexcept;
}
