// SPDX-License-Identifier: Apache-2.0
// What a process ends with by itself. Any code may use it; see docs/running.md.
#pragma once

namespace shoal::base {

/// Its job cannot go on: memory that a setting bounds is used up, nothing can run any more, or another node is lost.
inline constexpr int k_job_failed_status = 3;
/// A launcher's, of a job that has been ended for taking too long; as timeout(1) gives.
inline constexpr int k_timeout_status = 124;

}  // namespace shoal::base
