// SPDX-License-Identifier: Apache-2.0
#include "remote/call_table.hpp"

#include <fmt/format.h>

#include "shoal/error.hpp"

namespace shoal::remote {

void refuse_call(std::uint64_t in_flight) {
  throw error(errc::exhausted,
              fmt::format("{} calls of a worker have no answer yet; wait for some before more are begun", in_flight));
}

node_calls::node_calls(unsigned workers) {
  for (unsigned w = 0; w < workers; ++w) tables_.push_back(std::make_unique<call_table>(w));
}

std::optional<pending_call> node_calls::take(std::uint64_t name, std::uint32_t from) noexcept {
  const unsigned worker = call_table::worker_of(name);
  return worker < tables_.size() ? tables_[worker]->take(name, from) : std::nullopt;
}

}  // namespace shoal::remote
