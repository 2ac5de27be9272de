// SPDX-License-Identifier: Apache-2.0
// A rank's calls of MPI in the trace of its worker.
// Who may call: the rank's worker. Nothing here switches tasks. Cost: two events per call; none without a trace.
// Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "rank/rank.hpp"

namespace shoal::rank {

class call_trace final : public thread_setting {
public:
  /// While it lives; `me` is in no call.
  explicit call_trace(rank_state& me) noexcept : me_(me) { me.add_setting(*this); }
  ~call_trace() { me_.remove_setting(*this); }
  call_trace(const call_trace&) = delete;
  call_trace& operator=(const call_trace&) = delete;

  void put_aside(const char* function) noexcept override;
  void bring_back() noexcept override;

private:
  rank_state& me_;
  std::unordered_map<const char*, std::uint32_t> numbers_;  // of the functions, in the trace
};

}  // namespace shoal::rank
