// SPDX-License-Identifier: Apache-2.0
// What libshoal_net_ucx.so shows.
#include "net/transports/ucx/ucx_network.hpp"

namespace shoal::net {
namespace {

std::unique_ptr<network> open_ucx(const network_request& request) { return std::make_unique<ucx_network>(request); }

}  // namespace

extern "C" [[gnu::visibility("default")]] const net_plugin shoal_net_plugin{
    .interface = k_net_interface, .version = SHOAL_VERSION, .name = "ucx", .made_for = "UCX", .open = open_ucx};

}  // namespace shoal::net
