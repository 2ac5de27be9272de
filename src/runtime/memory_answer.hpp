// SPDX-License-Identifier: Apache-2.0
// What the nodes of a process hold (shoal/memory_use.hpp), as the text that answers `shoal ps --memory`, and its table.
// Who may call: any thread. Never switches tasks. parse_memories() of arbitrary text gives nothing or nodes.
// Test: tests/unit/runtime/memory_answer_test.cpp, tests/cluster/hang_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/memory_use.hpp"

namespace shoal::runtime {

struct node_memory {
  std::uint32_t node = 0;
  memory_usage use;
};

std::string to_text(std::span<const node_memory> nodes);
std::optional<std::vector<node_memory>> parse_memories(std::string_view text);

/// A line for each node, and the largest holders of all together; without a line feed at its end.
std::string table_of(std::span<const node_memory> nodes);

}  // namespace shoal::runtime
