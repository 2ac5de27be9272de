// SPDX-License-Identifier: Apache-2.0
// What a search has found: a table of the best points, a fragment of shoal.toml, and a map of two parameters as SVG.
// Who may call: anyone. Nothing is written. Test: tests/unit/tune/outcome_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tune/search.hpp"

namespace shoal::tune {

/// The best `most` points: median, least, greatest, number of runs, ratio to the best.
std::string outcome_table(const space& s, const search_result& r, std::string_view unit, std::size_t most = 10);

/// The settings among the parameters at `p`: names, and values as they are written in shoal.toml.
std::vector<std::pair<std::string, std::string>> settings_at(const space& s, const point& p);

/// For each pair of values of the parameters `x` and `y` (by number) the best figure over all others; pairs that were
/// not measured are empty.
std::string outcome_map(const space& s, const search_result& r, std::size_t x, std::size_t y, bool smaller_is_better,
                        std::string_view unit);

}  // namespace shoal::tune
