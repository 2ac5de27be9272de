// SPDX-License-Identifier: Apache-2.0
// A folder declares its settings in one constant table. Reading, range checks, help and `shoal info` use this table.
// All values are text as a user would write it ("64K", "on", "0.5"). When a table is added, settings.cpp checks that
// each default is within its range. Names are snake_case and unique over all folders.
// Who may use it: anyone; constant data, initialized before any code runs. Plugins have tables, too. Test:
// tests/unit/base/settings_test.cpp.
//
//   constexpr setting k_table[] = {
//       {.name = "stack", .type = setting_type::size, .default_value = "64K",
//        .help = "bytes of a task's stack", .min = "16K", .max = "64M"},
//   };
//   const setting_table k_fiber_settings{"fiber", k_table};
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal::base {

enum class setting_type : std::uint8_t {
  boolean,  // on, off, true, false, yes, no, 1, 0
  integer,  // a signed whole number
  size,     // bytes: a whole number, or one with K, M, G or T for powers of 1024
  real,     // a decimal number
  text,     // anything
  choice,   // one of the words of `choices`
};

struct setting {
  std::string_view name;
  setting_type type = setting_type::text;
  std::string_view default_value;
  std::string_view help;
  std::string_view min = {};      // integer, size, real: the minimum; empty = no bound
  std::string_view max = {};      // the maximum
  std::string_view choices = {};  // choice: the accepted words, separated by '|'
};

struct setting_table {
  std::string_view folder;
  std::span<const setting> settings;
};

}  // namespace shoal::base
