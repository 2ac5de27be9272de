// SPDX-License-Identifier: Apache-2.0
// Bodies in the unit cube: where they are and how strong. Distributions: uniform in the cube, and on the surface of an
// ellipsoid with axes 1 : 1 : 4, where a uniform distribution of angles crowds them at the poles.
// Who may call: anyone. Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::kernels::fmm {

struct bodies {
  std::vector<double> x, y, z;  // in [0, 1)
  std::vector<double> charge;   // in [-0.5, 0.5)

  std::size_t size() const noexcept { return x.size(); }
};

/// "uniform" or "ellipsoid"; the same for the same seed, however many workers there are. Throws shoal::error for
/// another name.
bodies make_bodies(const std::string& distribution, std::uint64_t count, std::uint64_t seed);

}  // namespace shoal::kernels::fmm
