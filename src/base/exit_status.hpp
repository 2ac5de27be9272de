// SPDX-License-Identifier: Apache-2.0
// What a process ends with by itself. Any code may use it; see docs/running.md.
#pragma once

namespace shoal::base {

/// Its job cannot go on: memory that a setting bounds is used up, nothing can run any more, or another node is lost.
inline constexpr int k_job_failed_status = 3;

}  // namespace shoal::base
