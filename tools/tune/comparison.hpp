// SPDX-License-Identifier: Apache-2.0
// Noisy figures compared: medians, and whether one of two programs is better, from pairs that were measured in turn.
// Who may call: anyone. Never blocks. Test: tests/unit/tune/comparison_test.cpp.
#pragma once

#include <cstdint>
#include <span>

namespace shoal::tune {

double median(std::span<const double> values);

enum class verdict : std::uint8_t { better, worse, equal, open };

/// How a/b may be read from pairs (a[i], b[i]): the geometric mean of the ratios, and the bounds within which it lies
/// with a probability of 95 % (Student's t on the logarithms). Fewer than two pairs: no bounds (0 and infinity).
struct ratio {
  double mean = 1;
  double low = 0;
  double high = 0;
};
ratio compare_pairs(std::span<const double> a, std::span<const double> b);

/// `smaller_is_better`; `equal_within`: a ratio that close to 1 is of no interest (0.01).
/// A first look at single figures may say `worse` already: when `a` is worse than every `b` by more than three times
/// what the `b` differ among themselves, and by more than a tenth.
verdict judge(std::span<const double> a, std::span<const double> b, bool smaller_is_better, double equal_within = 0.01);

}  // namespace shoal::tune
