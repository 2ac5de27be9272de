// SPDX-License-Identifier: Apache-2.0
// A histogram of durations: 32 buckets per power of two, so a percentile is accurate within 3 %.
// Who may call: one thread at a time. Test: tests/unit/locks/lock_meter_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace shoal::locks {

class time_histogram {
public:
  void add(std::uint64_t ns) noexcept {
    ++counts_[bucket(ns)];
    ++count_;
    max_ = std::max(max_, ns);
  }
  void add(const time_histogram& other) noexcept {
    for (std::size_t i = 0; i < k_buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t max() const noexcept { return max_; }
  /// The smallest duration that is not exceeded by `share` of the samples; 0 if there are none.
  double percentile(double share) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < k_buckets; ++i) {
      seen += counts_[i];
      if (seen > wanted) return std::min(middle(i), static_cast<double>(max_));
    }
    return static_cast<double>(max_);
  }

private:
  static constexpr unsigned k_bits = 5;
  static constexpr std::size_t k_parts = std::size_t{1} << k_bits;
  static constexpr std::size_t k_buckets = (64 - k_bits + 1) * k_parts;

  // Exact below 32; above, the exponent and the five bits after the leading bit.
  static std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns < k_parts) return static_cast<std::size_t>(ns);
    const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1 - k_bits;
    return (power + 1) * k_parts + static_cast<std::size_t>((ns >> power) - k_parts);
  }
  static double middle(std::size_t i) noexcept {
    if (i < k_parts) return static_cast<double>(i);
    const std::size_t power = i / k_parts - 1;
    const double width = static_cast<double>(std::uint64_t{1} << power);
    return (static_cast<double>(k_parts + i % k_parts) + 0.5) * width - 0.5;
  }

  std::array<std::uint64_t, k_buckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace shoal::locks
