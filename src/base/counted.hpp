// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages: "1 node", "2 nodes"; times, in the unit that suits them; long names. Any thread may call it.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::base {

/// `one`: a noun whose plural has an s.
inline std::string counted(std::uint64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

/// As it is, or its begin and "...", in at most `most` characters, which are at least 3.
inline std::string shortened_name(std::string_view text, std::size_t most) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most - 3)) + "...";
}

/// "750 ns", "2.18 us", "4.00 ms", "1.20 s".
inline std::string described_ns(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

}  // namespace shoal::base
