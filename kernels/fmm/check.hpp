// SPDX-License-Identifier: Apache-2.0
// Compares potentials with sums over all bodies, for a sample of bodies evenly spread over the tree's order.
// Who may call: anyone; plain data after construction. Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fmm/steps.hpp"

namespace shoal::kernels::fmm {

class potential_check {
public:
  /// At most `sample` bodies. O(bodies * sample).
  explicit potential_check(const bodies& sorted, std::uint32_t sample = 200);

  /// The relative error, in the mean of squares; the absolute one if all potentials are 0. NaN if one was not computed.
  double error_of(const steps& s) const noexcept;

private:
  struct right_potential {
    std::uint32_t body;
    double value;
  };
  std::vector<right_potential> right_;
};

}  // namespace shoal::kernels::fmm
