// SPDX-License-Identifier: Apache-2.0
// Compiled so that the compiler may use the vector units that the processor has (CMakeLists.txt).
#include "kernels/fmm/sums.hpp"

#include <cmath>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SHOAL_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SHOAL_FOR_EACH_PROCESSOR
#endif

namespace shoal::kernels::fmm {

SHOAL_FOR_EACH_PROCESSOR double potential_at(double x, double y, double z, const charges_at& from) noexcept {
  constexpr std::size_t k_lanes = 8;  // sums of their own, which no order of additions connects
  double sums[k_lanes] = {};
  std::size_t i = 0;
  for (; i + k_lanes <= from.count; i += k_lanes)
    for (std::size_t k = 0; k < k_lanes; ++k) {
      const double dx = from.x[i + k] - x, dy = from.y[i + k] - y, dz = from.z[i + k] - z;
      const double squared = dx * dx + dy * dy + dz * dz;
      const double inverse = 1 / std::sqrt(squared);
      sums[k] += squared > 0 ? from.charge[i + k] * inverse : 0;
    }
  double sum = 0;
  for (; i < from.count; ++i) {
    const double dx = from.x[i] - x, dy = from.y[i] - y, dz = from.z[i] - z;
    const double squared = dx * dx + dy * dy + dz * dz;
    sum += squared > 0 ? from.charge[i] / std::sqrt(squared) : 0;
  }
  for (const double s : sums) sum += s;
  return sum;
}

SHOAL_FOR_EACH_PROCESSOR void add_spectrum_product(const double* a, const double* b, std::size_t begin, std::size_t end,
                                                   double* sums) noexcept {
  // A group's parts; the compiler takes as many registers for them as the processor needs.
  using lanes [[gnu::vector_size(k_group * sizeof(double))]] = double;
  lanes x_re, x_im, y_re, y_im, re, im;
  for (std::size_t g = 2 * k_group * begin; g < 2 * k_group * end; g += 2 * k_group) {
    std::memcpy(&x_re, a + g, sizeof x_re);
    std::memcpy(&x_im, a + g + k_group, sizeof x_im);
    std::memcpy(&y_re, b + g, sizeof y_re);
    std::memcpy(&y_im, b + g + k_group, sizeof y_im);
    std::memcpy(&re, sums + g, sizeof re);
    std::memcpy(&im, sums + g + k_group, sizeof im);
    re += x_re * y_re - x_im * y_im;
    im += x_re * y_im + x_im * y_re;
    std::memcpy(sums + g, &re, sizeof re);
    std::memcpy(sums + g + k_group, &im, sizeof im);
  }
}

}  // namespace shoal::kernels::fmm
