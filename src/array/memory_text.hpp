// SPDX-License-Identifier: Apache-2.0
// What shoal/memory_use.hpp reports, as text that travels between nodes and to `shoal ps`, added up, and as a table.
// Who may call: any thread. Never switches tasks.
// Guarantees: to_text() fits into an answer of a call; parse_memory() of arbitrary text gives nothing or a report of at
// most k_most_holders holders. Test: tests/unit/array/memory_text_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/memory_use.hpp"

namespace shoal::array {

inline void add(memory_amount& to, const memory_amount& other) noexcept {
  to.bytes += other.bytes;
  to.most_bytes += other.most_bytes;
}
/// Holders that are alike but for their amounts become one; the largest come first, and k_most_holders remain.
void merge_holders(std::vector<memory_holder>& to, std::vector<memory_holder> more);
void add(memory_usage& to, const memory_usage& other);

/// A line, and one for each holder. Tabs and line feeds in names become spaces.
std::string to_text(const memory_usage& use);
std::optional<memory_usage> parse_memory(std::string_view text);

/// "'ranks', array of 1000 elements of 8 bytes, made at src/rank.cpp:41".
std::string describe(const memory_holder& h);

}  // namespace shoal::array
