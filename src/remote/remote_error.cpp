// SPDX-License-Identifier: Apache-2.0
#include "shoal/remote_error.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace shoal {

remote_error::remote_error(errc code, std::uint32_t node, std::string type, std::string message)
    : error(code,
            fmt::format("{} (thrown on node {} as {})",
                        message.empty() ? std::string_view("an exception without a message") : message, node, type)),
      node_(node),
      type_(std::move(type)),
      message_(std::move(message)) {}

}  // namespace shoal
