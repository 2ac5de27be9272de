// SPDX-License-Identifier: Apache-2.0
// A model of a noisy function on a space, from the points that were measured: a Gaussian process with a squared
// exponential kernel. Its length scale is the one of a few under which the measurements are most likely. It says for a
// point not measured yet what to expect, how sure that is, and how much better than the best so far it may be (expected
// improvement, Jones et al. 1998).
// Who may call: one thread at a time. Cost: n^3 for n measured points when made, n^2 per question; meant for hundreds.
// Test: tests/unit/tune/surrogate_test.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "tune/space.hpp"

namespace shoal::tune {

class surrogate {
public:
  /// `values[i]` was measured at `points[i]`; smaller is better. `noise_share`: the variance of a measurement relative to
  /// that of all values. `s` must outlive this.
  surrogate(const space& s, std::vector<point> points, const std::vector<double>& values, double noise_share = 0.01);

  struct guess {
    double mean = 0;
    double deviation = 0;
  };
  guess at(const point& p) const;
  double expected_improvement(const point& p) const;
  double length_scale() const noexcept { return scale_; }

private:
  double kernel(const point& a, const point& b) const;
  /// The logarithm of how likely the values are, without constants.
  double fit(double scale, double noise);

  const space& space_;
  std::vector<point> points_;
  std::vector<double> values_;  // mean 0, deviation 1
  double mean_ = 0;
  double deviation_ = 1;
  double scale_ = 0.3;
  std::vector<double> lower_;  // of Cholesky, by rows
  std::vector<double> weights_;
  double best_ = 0;
};

}  // namespace shoal::tune
