// SPDX-License-Identifier: Apache-2.0
// The inner loops of the fast multipole method: potentials of charges at points, and products of spectra.
// Who may call: anyone; pure functions of what they are given.
#pragma once

#include <cstddef>

namespace shoal::kernels::fmm {

struct charges_at {
  const double* x;
  const double* y;
  const double* z;
  const double* charge;
  std::size_t count;
};

/// The potential at a point; a charge at the point itself does not count.
double potential_at(double x, double y, double z, const charges_at& from) noexcept;

/// Frequencies of a group: eight real parts, then eight imaginary ones.
inline constexpr std::size_t k_group = 8;

/// sums += a * b, complex, for groups [begin, end) of spectra.
void add_spectrum_product(const double* a, const double* b, std::size_t begin, std::size_t end, double* sums) noexcept;

}  // namespace shoal::kernels::fmm
