// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that are read from them.
// Who may call: one thread, at start. Shown by tests/unit/remote/settings_test.cpp.
#pragma once

#include <cstdint>

#include "base/settings.hpp"

namespace shoal::remote {

extern const base::setting_table k_remote_settings;

struct options {
  std::uint64_t call_memory = 4 << 20;  // for calls of other nodes that have not begun
  unsigned helpers = 0;                 // threads that only execute requests (request_threads.hpp)
  std::uint64_t one_sided_bytes = 0;    // copies of so many bytes and more use the network's put and get
  std::uint64_t overflow_memory = 0;    // for what can neither be sent nor wait; 0: chosen
  unsigned send_after_us = 200;         // the age at which a buffer that a task waits for is sent
};
options read_options(const base::settings& s);

}  // namespace shoal::remote
