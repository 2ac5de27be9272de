// SPDX-License-Identifier: Apache-2.0
// The range of an option that takes a real number. CLI::Range alone lets "nan" pass, which is neither less nor more.
// Who may call: anyone who declares options. Test: tests/unit/bench/real_range_test.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace shoal::bench {

inline CLI::Validator real_range(double low, double high) {
  const CLI::Range within(low, high);
  return {[within](std::string& text) {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && std::isnan(value)) return "'" + text + "' is no number";
            return within(text);
          },
          within.get_description()};
}

}  // namespace shoal::bench
