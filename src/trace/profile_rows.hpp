// SPDX-License-Identifier: Apache-2.0
// The rows of a profile: names and order for all writers.
// Who may call: the writers of this folder. Constant data. Test: tests/unit/trace/profile_text_test.cpp.
#pragma once

#include <array>
#include <string_view>

#include "shoal/profile_result.hpp"

namespace shoal::trace {

enum class profile_part { scheduling, idle };

struct profile_row {
  std::string_view name;
  std::string_view meaning;
  profile_part part;
  profile_entry profile_worker::*entry;
};

inline constexpr profile_row k_profile_rows[] = {
    {"spawn", "tasks offered", profile_part::scheduling, &profile_worker::spawn},
    {"get", "tasks taken from the worker's own deque", profile_part::scheduling, &profile_worker::get},
    {"resume", "tasks resumed after a wait", profile_part::scheduling, &profile_worker::resume},
    {"steal", "tasks stolen from others", profile_part::scheduling, &profile_worker::steal},
    {"messages", "polls for messages, and serving them", profile_part::scheduling, &profile_worker::messages},
    {"ring", "sleepers woken", profile_part::scheduling, &profile_worker::ring},
    {"look", "unsuccessful searches", profile_part::idle, &profile_worker::look},
    {"spin", "pauses between searches", profile_part::idle, &profile_worker::spin},
    {"park", "sleeps", profile_part::idle, &profile_worker::park},
};

/// Indexed by shoal::worker_distance.
inline constexpr std::array<std::string_view, 6> k_distance_names{"core", "l2", "l3", "numa", "package", "machine"};

}  // namespace shoal::trace
