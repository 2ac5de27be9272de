// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages: "1 node", "2 nodes". Any thread may call it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::base {

/// `one`: a noun whose plural has an s.
inline std::string counted(std::uint64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

}  // namespace shoal::base
