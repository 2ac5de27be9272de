// SPDX-License-Identifier: Apache-2.0
#include "tune/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace shoal::tune {
namespace {

// Student's t, two-sided 95 %, by degrees of freedom from 1 on; beyond the table it is about 2.
constexpr std::array k_student = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                  2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

constexpr double k_clearly = 1.1;

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

ratio compare_pairs(std::span<const double> a, std::span<const double> b) {
  ratio r;
  r.high = std::numeric_limits<double>::infinity();
  const std::size_t n = std::min(a.size(), b.size());
  if (n == 0) return r;
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) mean += std::log(a[i] / b[i]) / static_cast<double>(n);
  r.mean = std::exp(mean);
  if (n < 2) return r;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = std::log(a[i] / b[i]) - mean;
    squares += d * d;
  }
  const double t = n - 2 < k_student.size() ? k_student[n - 2] : 2.0;
  const double half = t * std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  r.low = std::exp(mean - half);
  r.high = std::exp(mean + half);
  return r;
}

verdict judge(std::span<const double> a, std::span<const double> b, bool smaller_is_better, double equal_within) {
  if (a.empty() || b.empty()) return verdict::open;
  const auto [b_least, b_most] = std::ranges::minmax(b);
  if (smaller_is_better) {
    const double best = std::ranges::min(a);
    if (best > b_most + 3 * (b_most - b_least) && best > b_most * k_clearly) return verdict::worse;
  } else {
    const double best = std::ranges::max(a);
    if (best < b_least - 3 * (b_most - b_least) && best < b_least / k_clearly) return verdict::worse;
  }
  if (std::min(a.size(), b.size()) < 3) return verdict::open;
  const ratio r = compare_pairs(a, b);
  if (r.low > 1 - equal_within && r.high < 1 + equal_within) return verdict::equal;
  if (r.high < 1) return smaller_is_better ? verdict::better : verdict::worse;
  if (r.low > 1) return smaller_is_better ? verdict::worse : verdict::better;
  return verdict::open;
}

}  // namespace shoal::tune
