// SPDX-License-Identifier: Apache-2.0
// The frame below main() in a rank.
// Who may call: the task of a rank. What the program does, it does: it may switch tasks.
#pragma once

namespace shoal::host {

/// Calls the main() of a copy of the program. An exception that the program does not catch ends the process where it is
/// thrown.
int call_main(int (*program)(int, char**, char**), int argc, char** argv, char** environment);

}  // namespace shoal::host
