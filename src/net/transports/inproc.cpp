// SPDX-License-Identifier: Apache-2.0
#include "net/transports/inproc.hpp"

namespace shoal::net {

inproc_world::inproc_world(const ring_shape& shape)
    : shape_(shape), memory_(machine::round_up(ring_layout::bytes(shape), machine::page_size())) {
  memory_.commit(0, memory_.size());
}

std::unique_ptr<transport> inproc_world::connect(unsigned node) const {
  return std::make_unique<ring_transport>("inproc", ring_layout(memory_.data(), shape_), node, false);
}

}  // namespace shoal::net
