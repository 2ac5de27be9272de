// SPDX-License-Identifier: Apache-2.0
// How launchers tell a process its place in a variable: "node=1 nodes=2 taken=4711". Who may call: anyone, at set-up.
// Shown by tests/unit/launch/rendezvous_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal::launch {

std::optional<std::string> field_in(const std::string& text, const std::string& name);
/// Throws a sentence that names the variable if there is no such number.
std::uint32_t number_in(const std::string& text, const std::string& name, const char* variable);

}  // namespace shoal::launch
