// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/check.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/fmm/sums.hpp"

namespace shoal::kernels::fmm {

potential_check::potential_check(const bodies& sorted, std::uint32_t sample) {
  const charges_at all{sorted.x.data(), sorted.y.data(), sorted.z.data(), sorted.charge.data(), sorted.size()};
  const std::uint64_t count = std::min<std::uint64_t>(sorted.size(), sample);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto body = static_cast<std::uint32_t>(i * sorted.size() / count);
    right_.push_back({body, potential_at(sorted.x[body], sorted.y[body], sorted.z[body], all)});
  }
}

double potential_check::error_of(const steps& s) const noexcept {
  double wrong = 0, all = 0;
  for (const auto& [body, right] : right_) {
    wrong += (s.potential(body) - right) * (s.potential(body) - right);
    all += right * right;
  }
  return all == 0 ? std::sqrt(wrong) : std::sqrt(wrong / all);
}

}  // namespace shoal::kernels::fmm
