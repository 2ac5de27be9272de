// SPDX-License-Identifier: Apache-2.0
// Parses the text of a setting's value and checks its range.
// Who may call: settings.cpp, and whoever reads the same notation within texts. May throw. Never
// switches tasks. Test: tests/unit/base/setting_value_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/setting_table.hpp"

namespace shoal::base {

/// Accepts "on", "true", "yes", "1" and their opposites, in any case.
std::optional<bool> parse_bool(std::string_view text) noexcept;
/// A whole number, with an optional sign.
std::optional<std::int64_t> parse_int(std::string_view text) noexcept;
/// Bytes: "4096", "64K", "64KiB", "2M", "1G", "1T" (powers of 1024, in any case). Empty on overflow.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
/// A finite decimal number.
std::optional<double> parse_real(std::string_view text) noexcept;
/// A time in nanoseconds: "500", "500ns", "20us", "1.5ms", "2s". Not negative.
std::optional<double> parse_time_ns(std::string_view text) noexcept;

/// The words of a choice.
std::vector<std::string_view> split_choices(std::string_view choices);

/// Describes the accepted values: "a size from 16K to 64M", "one of quiet, warn, say, verbose".
std::string describe_range(const setting& s);

/// Whether the text is a value of the setting's type and within its range.
bool is_acceptable(const setting& s, std::string_view text);

/// The number of insertions, deletions, replacements and transpositions between two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of the names, or an empty string if none is similar enough.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace shoal::base
