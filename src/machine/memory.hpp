// SPDX-License-Identifier: Apache-2.0
// Everything about this process's own memory in one include; what is shared with other processes is in segment.hpp.
// Who may call: see the headers named here. Shown by the tests of those headers.
#pragma once

#include "machine/huge_buffer.hpp"
#include "machine/memory_info.hpp"
#include "machine/reserved_range.hpp"
