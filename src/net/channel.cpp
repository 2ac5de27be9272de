// SPDX-License-Identifier: Apache-2.0
#include "net/channel.hpp"

namespace shoal::net {

std::string describe_outstanding(std::uint64_t buffers) {
  if (buffers == 0) return "no requests to it outstanding";
  return std::to_string(buffers) + (buffers == 1 ? " buffer" : " buffers") + " of requests to it not executed";
}

}  // namespace shoal::net
