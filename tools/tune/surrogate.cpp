// SPDX-License-Identifier: Apache-2.0
#include "tune/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace shoal::tune {
namespace {

constexpr double k_scales[] = {0.05, 0.1, 0.2, 0.4, 0.8};

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double normal_probability(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

}  // namespace

surrogate::surrogate(const space& s, std::vector<point> points, const std::vector<double>& values, double noise_share)
    : space_(s), points_(std::move(points)), values_(values) {
  for (const double v : values_) mean_ += v / static_cast<double>(values_.size());
  double squares = 0;
  for (const double v : values_) squares += (v - mean_) * (v - mean_) / static_cast<double>(values_.size());
  deviation_ = squares > 0 ? std::sqrt(squares) : 1;
  for (double& v : values_) v = (v - mean_) / deviation_;
  best_ = values_.empty() ? 0 : std::ranges::min(values_);
  double most = -std::numeric_limits<double>::infinity();
  double best_scale = scale_;
  for (const double scale : k_scales) {
    const double likely = fit(scale, noise_share);
    if (likely <= most) continue;
    most = likely;
    best_scale = scale;
  }
  fit(best_scale, noise_share);
}

double surrogate::kernel(const point& a, const point& b) const {
  return std::exp(-space_.distance_squared(a, b) / (2 * scale_ * scale_));
}

double surrogate::fit(double scale, double noise) {
  constexpr double k_least_noise = 1e-6;  // keeps the matrix positive
  scale_ = scale;
  const std::size_t n = points_.size();
  lower_.assign(n * n, 0);
  double likely = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = kernel(points_[i], points_[k]) + (i == k ? std::max(noise, k_least_noise) : 0);
      for (std::size_t m = 0; m < k; ++m) sum -= lower_[i * n + m] * lower_[k * n + m];
      lower_[i * n + k] = i == k ? std::sqrt(std::max(sum, 1e-12)) : sum / lower_[k * n + k];
    }
    likely -= std::log(lower_[i * n + i]);
  }
  std::vector<double> forward(n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = values_[i];
    for (std::size_t k = 0; k < i; ++k) sum -= lower_[i * n + k] * forward[k];
    forward[i] = sum / lower_[i * n + i];
    likely -= forward[i] * forward[i] / 2;
  }
  weights_.assign(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    double sum = forward[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= lower_[k * n + i] * weights_[k];
    weights_[i] = sum / lower_[i * n + i];
  }
  return likely;
}

surrogate::guess surrogate::at(const point& p) const {
  const std::size_t n = points_.size();
  std::vector<double> part(n);
  double mean = 0;
  double variance = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double k = kernel(p, points_[i]);
    mean += k * weights_[i];
    double sum = k;
    for (std::size_t m = 0; m < i; ++m) sum -= lower_[i * n + m] * part[m];
    part[i] = sum / lower_[i * n + i];
    variance -= part[i] * part[i];
  }
  return {mean_ + mean * deviation_, std::sqrt(std::max(variance, 0.0)) * deviation_};
}

double surrogate::expected_improvement(const point& p) const {
  const guess g = at(p);
  const double gain = mean_ + best_ * deviation_ - g.mean;
  if (g.deviation <= 0) return std::max(gain, 0.0);
  const double z = gain / g.deviation;
  return gain * normal_probability(z) + g.deviation * normal_density(z);
}

}  // namespace shoal::tune
