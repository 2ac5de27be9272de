// SPDX-License-Identifier: Apache-2.0
// The indices of a gather or scatter: a view of std::uint32_t or std::uint64_t that lie one behind the other, in a
// vector, an array or a span. They must live until the call returns.
//   std::vector<std::uint32_t> neighbours = ...;  std::vector<double> values(neighbours.size());
//   ranks.gather(neighbours, values);             // values[k] = element neighbours[k]
// Who may call: anyone; pure functions. Shown by tests/cluster/array_list_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>

namespace shoal {

class index_list {
public:
  index_list() = default;
  template <std::ranges::contiguous_range Indices>
  requires std::ranges::sized_range<Indices> && std::same_as<std::ranges::range_value_t<Indices>, std::uint32_t>
  index_list(const Indices& indices)
  noexcept : narrow_(std::ranges::data(indices)), size_(std::ranges::size(indices)) {}
  template <std::ranges::contiguous_range Indices>
  requires std::ranges::sized_range<Indices> && std::same_as<std::ranges::range_value_t<Indices>, std::uint64_t>
  index_list(const Indices& indices)
  noexcept : wide_(std::ranges::data(indices)), size_(std::ranges::size(indices)) {}

  std::size_t size() const noexcept { return size_; }
  std::uint64_t operator[](std::size_t k) const noexcept { return narrow_ != nullptr ? narrow_[k] : wide_[k]; }

  /// Calls f(first index), a pointer to the type that they have.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return narrow_ != nullptr ? f(narrow_) : f(wide_);
  }

private:
  const std::uint32_t* narrow_ = nullptr;
  const std::uint64_t* wide_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shoal
