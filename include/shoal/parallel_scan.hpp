// SPDX-License-Identifier: Apache-2.0
// Prefix sums of elements of this process, for any associative operation (of global arrays: scan.hpp).
//   shoal::parallel_inclusive_scan(x.begin(), x.end(), y.begin());           y[i] = x[0] + ... + x[i]
//   shoal::parallel_exclusive_scan(x.begin(), x.end(), x.begin(), 0, op);    the same without x[i], in place
//   total = shoal::parallel_scan(n, 0, [&](const shoal::range1d& part, int sum, bool last) { ... return sum; }, op);
// `op` need not commute; several workers call it. Who may call: tasks; it switches, and `op` may wait. Guarantees: the
// result depends on the number and the type of the elements alone, to the last bit: not on workers or timing (of the
// third form: if `op` is exact). Complexity: two calls of `op` per element, one where that changes no bit. Errors: the
// first exception of `op` or an iterator; some elements are written then. Source: Merrill, Garland, "Single-pass
// parallel prefix scan with decoupled look-back" (2016).
// Tests: tests/unit/algorithms/parallel_scan_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/scan_blocks.hpp"
#include "shoal/range.hpp"

namespace shoal {

namespace detail {

/// Whether the result is the same in any grouping: of integers that wrap, and of bits.
template <class Op, class T>
inline constexpr bool k_regroups = std::is_integral_v<T> &&
                                   (std::same_as<Op, std::plus<>> || std::same_as<Op, std::plus<T>> ||
                                    std::same_as<Op, std::multiplies<>> || std::same_as<Op, std::multiplies<T>> ||
                                    std::same_as<Op, std::bit_or<>> || std::same_as<Op, std::bit_or<T>> ||
                                    std::same_as<Op, std::bit_and<>> || std::same_as<Op, std::bit_and<T>> ||
                                    std::same_as<Op, std::bit_xor<>> || std::same_as<Op, std::bit_xor<T>>);

template <bool Inclusive, class T, class In, class Out, class Op>
class element_scan {
public:
  using value = T;
  element_scan(In first, Out out, const Op& op) : first_(first), out_(out), op_(op) {}

  T reduce(std::uint64_t begin, std::uint64_t end) const {
    T sum(at(begin));
    while (++begin < end) sum = op_(std::move(sum), at(begin));
    return sum;
  }
  T scan(std::uint64_t begin, std::uint64_t end, const std::optional<T>& before) const {
    if (!before) return scan_first(begin, end, [](const auto&) {});
    T sum(*before);
    scan_elements(begin, end, sum, [](const auto&) {});
    return sum;
  }
  T scan_alone(std::uint64_t begin, std::uint64_t end, const std::optional<T>& before) const {
    if (!before || (k_regroups<Op, T> && std::is_integral_v<std::iter_value_t<In>>)) return scan(begin, end, before);
    // Not the sum that the elements get: what follows would depend on who was first.
    T sum(*before);
    T own(at(begin));
    scan_elements(begin, begin + 1, sum, [](const auto&) {});
    scan_elements(begin + 1, end, sum, [&](const auto& x) { own = op_(std::move(own), x); });
    return join(*before, own);
  }
  T join(const T& a, const T& b) const { return op_(a, b); }

private:
  decltype(auto) at(std::uint64_t i) const { return first_[static_cast<std::iter_difference_t<In>>(i)]; }

  template <class Also>
  void scan_elements(std::uint64_t begin, std::uint64_t end, T& sum, const Also& also) const {
    for (; begin < end; ++begin) {
      decltype(auto) x = at(begin);
      also(x);
      auto&& place = out_[static_cast<std::iter_difference_t<Out>>(begin)];  // which x may be
      if constexpr (Inclusive) {
        sum = op_(std::move(sum), x);
        place = sum;
      } else {
        T next = op_(sum, x);
        place = std::move(sum);
        sum = std::move(next);
      }
    }
  }
  // Inclusive, without a value before.
  template <class Also>
  T scan_first(std::uint64_t begin, std::uint64_t end, const Also& also) const {
    T sum(at(begin));
    out_[static_cast<std::iter_difference_t<Out>>(begin)] = sum;
    scan_elements(begin + 1, end, sum, also);
    return sum;
  }

  In first_;
  Out out_;
  const Op& op_;
};

template <class Body, class T, class Combine>
class part_scan {
public:
  using value = T;
  part_scan(const range1d& range, const T& identity, const Body& body, const Combine& combine)
      : range_(range), identity_(identity), body_(body), combine_(combine) {}

  T reduce(std::uint64_t begin, std::uint64_t end) const { return body_(part(begin, end), identity_, false); }
  T scan(std::uint64_t begin, std::uint64_t end, const std::optional<T>& before) const {
    return body_(part(begin, end), *before, true);
  }
  T scan_alone(std::uint64_t begin, std::uint64_t end, const std::optional<T>& before) const {
    return scan(begin, end, before);
  }
  T join(const T& a, const T& b) const { return combine_(a, b); }

private:
  range1d part(std::uint64_t begin, std::uint64_t end) const noexcept {
    return {range_.begin() + begin, range_.begin() + end, range_.grain()};
  }

  const range1d& range_;
  const T& identity_;
  const Body& body_;
  const Combine& combine_;
};

template <bool Inclusive, class T, class In, class Out, class Op>
Out scan_elements(In first, In last, Out out, const Op& op, std::optional<T> before) {
  static_assert(std::is_invocable_r_v<T, const Op&, T, T>, "the operation makes one value of two");
  static_assert(!std::same_as<std::iter_reference_t<Out>, std::vector<bool>::reference>,
                "the elements of a std::vector<bool> share bytes, so that workers cannot write them at the same time; "
                "use bytes");
  SHOAL_ASSERT(last - first >= 0, "these elements end before they begin: give the iterators the other way round");
  if (first == last) return out;
  // Blocks that stay in a core's cache from their reduction to their scan.
  constexpr std::uint64_t k_longest = std::max<std::uint64_t>((std::uint64_t{1} << 17) / sizeof(T), 1);
  constexpr std::uint64_t k_least = std::is_arithmetic_v<T> ? 2048 : 1;
  const element_scan<Inclusive, T, In, Out, Op> scan(first, out, op);
  scan_blocks<element_scan<Inclusive, T, In, Out, Op>>(scan, static_cast<std::uint64_t>(last - first), k_least,
                                                       std::max(k_least, k_longest))
      .run(std::move(before));
  return out + static_cast<std::iter_difference_t<Out>>(last - first);
}

}  // namespace detail

/// out[i] = first[0] op ... op first[i]. Returns the end of what was written. `out` is `first` or does not overlap.
template <std::random_access_iterator In, std::random_access_iterator Out, class Op = std::plus<>>
Out parallel_inclusive_scan(In first, std::type_identity_t<In> last, Out out, const Op& op = {}) {
  return detail::scan_elements<true, std::iter_value_t<In>>(first, last, out, op, std::nullopt);
}
/// out[i] = init op first[0] op ... op first[i]
template <std::random_access_iterator In, std::random_access_iterator Out, class Op, class T>
Out parallel_inclusive_scan(In first, std::type_identity_t<In> last, Out out, const Op& op, T init) {
  return detail::scan_elements<true, T>(first, last, out, op, std::optional<T>(std::move(init)));
}
/// out[i] = init op first[0] op ... op first[i - 1]; out[0] = init
template <std::random_access_iterator In, std::random_access_iterator Out, class T, class Op = std::plus<>>
Out parallel_exclusive_scan(In first, std::type_identity_t<In> last, Out out, T init, const Op& op = {}) {
  return detail::scan_elements<false, T>(first, last, out, op, std::optional<T>(std::move(init)));
}

/// body(part, value before it, last) combines `part` to that value and returns the result. For each part of the range
/// it is called once with `last`, and for some parts before that without, beginning with `identity`. Returns the total.
template <class T, class Body, class Combine>
requires(
    std::is_invocable_r_v<T, const Body&, const range1d&, T, bool>&& std::is_invocable_r_v<T, const Combine&, T, T>) T
    parallel_scan(const range1d& range, const T& identity, const Body& body, const Combine& combine) {
  if (range.empty()) return identity;
  constexpr std::uint64_t k_longest = 16384;
  const detail::part_scan<Body, T, Combine> scan(range, identity, body, combine);
  return detail::scan_blocks<detail::part_scan<Body, T, Combine>>(scan, range.size(), range.grain(),
                                                                  std::max(range.grain(), k_longest))
      .run(identity);
}
/// The same over [0, n).
template <std::integral N, class T, class Body, class Combine>
T parallel_scan(N n, const T& identity, const Body& body, const Combine& combine) {
  return parallel_scan(range1d(0, n < N{0} ? 0 : static_cast<std::uint64_t>(n)), identity, body, combine);
}

}  // namespace shoal
