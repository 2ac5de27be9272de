// SPDX-License-Identifier: Apache-2.0
#include "net/transports/shm.hpp"

namespace shoal::net {

std::unique_ptr<transport> connect_shm(std::byte* memory, const ring_shape& shape, unsigned node) {
  return std::make_unique<ring_transport>("shm", ring_layout(memory, shape), node, true);
}

}  // namespace shoal::net
