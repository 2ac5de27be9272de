// SPDX-License-Identifier: Apache-2.0
// Libraries that do not fit, for the loader's refusals: of another interface or version, or no plugin at all.
#include "net/wire.hpp"

namespace shoal::net {

#ifdef BAD_VERSION
extern "C" const net_plugin shoal_net_plugin{.interface = BAD_INTERFACE,
                                             .version = BAD_VERSION,
                                             .name = "bad",
                                             .made_for = "none",
                                             .open = nullptr,
                                             .share = nullptr};
#else
extern "C" const int shoal_no_plugin = 1;
#endif

}  // namespace shoal::net
