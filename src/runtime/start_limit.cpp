// SPDX-License-Identifier: Apache-2.0
#include "runtime/start_limit.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "machine/process.hpp"

namespace shoal::runtime {

start_limit::start_limit(machine::executor& by, std::int64_t limit_ns)
    : executor_(by), limit_ns_(limit_ns), begin_ns_(by.now_ns()), runner_(by.make_runner("shoal-start", *this)) {
  runner_->start();
}

start_limit::~start_limit() { runner_->stop(); }

std::int64_t start_limit::tick() noexcept {
  const std::int64_t left_ns = limit_ns_ - static_cast<std::int64_t>(executor_.now_ns() - begin_ns_);
  if (left_ns > 0) return left_ns;
  base::write_line("", fmt::format("not all processes of this job have started within {:g} s; see their messages "
                                   "above, or start the job with fewer nodes (SHOAL_START_SECONDS is the limit)",
                                   static_cast<double>(limit_ns_) * 1e-9));
  machine::exit_now(1);
}

}  // namespace shoal::runtime
