// SPDX-License-Identifier: Apache-2.0
// Prefix sums of numbers of 64 bits from one array to another, by each library's scan.
// Variants: `integers`; `doubles`, whose sums are exact, so that every grouping gives the same bits.
// Work: numbers. The check: each sum is that before it plus its number. Test: tests/unit/problems/scan_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

namespace problems::scan {

template <class T>
struct arrays {
  std::vector<T> from;
  std::vector<T> to;

  void fill(std::uint64_t size) {
    from.resize(size);
    to.resize(size);
    for (std::uint64_t i = 0; i < size; ++i) from[i] = static_cast<T>((i * 0x9e3779b97f4a7c15) >> 44);
  }
  bool valid() const noexcept {
    T sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (to[i] != (sum += from[i])) return false;
    return true;
  }
};

struct problem {
  static constexpr const char* k_name = "scan";
  static constexpr const char* k_work_unit = "number";
  static constexpr std::uint64_t k_size = 20'000'000;
  static constexpr std::uint64_t k_test_size = 200'000;
  static constexpr std::string_view k_variants[] = {"integers", "doubles"};
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size, std::size_t variant = 0) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is how many numbers, 1 to 10^9");
    if (variant == 0)
      integers_.fill(size);
    else
      doubles_.fill(size);
  }

  void prepare() {
    integers_.to.assign(integers_.to.size(), 0);
    doubles_.to.assign(doubles_.to.size(), 0);
  }
  /// Calls scan(from, to), vectors of the same length, for the numbers of the variant.
  template <class Scan>
  void scan_by(const Scan& scan) {
    if (doubles_.from.empty())
      scan(integers_.from, integers_.to);
    else
      scan(doubles_.from, doubles_.to);
  }
  bool valid(result) const noexcept { return integers_.valid() && doubles_.valid(); }
  std::uint64_t work(result) const noexcept { return integers_.to.size() + doubles_.to.size(); }

private:
  arrays<std::uint64_t> integers_;
  arrays<double> doubles_;
};

}  // namespace problems::scan
