// SPDX-License-Identifier: Apache-2.0
// The end of a job because memory that a setting bounds is used up where nothing may wait.
// Who may call: any thread. Test: tests/cluster/handler_test.cpp, tests/cluster/credit_test.cpp.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "machine/process.hpp"

namespace shoal::remote {

[[noreturn, gnu::cold, gnu::noinline]] inline void end_as_exhausted(std::string_view text) noexcept {
  base::write_line("", fmt::format("exhausted: {}", text));
  machine::exit_now(base::k_job_failed_status);
}

}  // namespace shoal::remote
