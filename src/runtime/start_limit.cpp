// SPDX-License-Identifier: Apache-2.0
#include "runtime/start_limit.hpp"

#include <fmt/format.h>

#include <array>

#include "base/log.hpp"

namespace shoal::runtime {

start_limit::start_limit(std::int64_t limit_ns)
    : thread_([this, limit_ns] {
        if (machine::wait_any(std::array{met_.descriptor()}, limit_ns) >= 0) return;
        base::write_line("", fmt::format("not all processes of this job have started within {:g} s; see their messages "
                                         "above, or start the job with fewer nodes (SHOAL_START_SECONDS is the limit)",
                                         static_cast<double>(limit_ns) * 1e-9));
        machine::exit_now(1);
      }) {}

start_limit::~start_limit() {
  met_.wake();
  thread_.join();
}

}  // namespace shoal::runtime
