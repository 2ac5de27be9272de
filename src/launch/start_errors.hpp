// SPDX-License-Identifier: Apache-2.0
// Error messages for jobs that cannot start, common to nodes that share a page (world.hpp) and nodes with a hub
// (control.hpp). Who may call: anyone, at set-up. Never switches tasks.
// Tests: tests/unit/launch/world_test.cpp, control_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::launch {

std::string code_mismatch(std::uint32_t node, std::uint32_t than);
std::string other_settings(std::uint32_t node, const std::string& its, std::uint32_t than, const std::string& theirs);
std::string started_already(std::uint32_t node);
/// `nodes`: at least one.
std::string not_started(const std::vector<std::uint32_t>& nodes, std::int64_t within_ns);
/// "5 s", "0.25 s".
std::string seconds(std::int64_t ns);

}  // namespace shoal::launch
