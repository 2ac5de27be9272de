// SPDX-License-Identifier: Apache-2.0
// Global arrays rearranged by global arrays of indices.
//   shoal::gather_into(target, source, indices);     target[k] = source[indices[k]]
//   shoal::scatter_into(target, source, indices);    target[indices[k]] = source[k]
//   shoal::permute(a, places);                       element k moves to place places[k]; `places` is a permutation
// Indices: std::uint32_t or std::uint64_t. gather_into() has an index for each element of the target, the others one
// for each element of the source. Of several elements for one place, any may be the one that remains.
// Who may call: tasks, while no other task uses the arrays, which are different ones. Switches tasks.
// Complexity: one command of 8 or 16 bytes, and for gathers a reply, for each element that is not where it is wanted,
// in lists (elements over 8 bytes: a bulk copy each). Indices that are not placed like the elements beside them are
// streamed, 64 KiB per worker. Memory: permute(): as many elements again; cyclic and block-cyclic arrays, whose indices
// are placed in another way, a copy of the target (gather_into) or source (scatter_into). Errors: shoal::error
// (invalid_argument: different sizes; out_of_memory). Shown by tests/cluster/algorithms_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shoal/array.hpp"
#include "shoal/detail/block_division.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/element_stream.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

namespace detail {

template <class Array>
concept global_indices = global_elements<Array> &&
    (std::same_as<element_in<Array>, std::uint32_t> || std::same_as<element_in<Array>, std::uint64_t>);

/// Calls f(indices, values) for pieces of both arrays, which together are all of them: values in the memory of the node
/// that holds them, by all its workers. Both have the same places, or the values lie in contiguous parts.
template <class T, class Index, class F>
void for_indexed(const array_ref<T>& values, const array_ref<Index>& indices, const F& f) {
  parallel_for(everywhere, node_count(), [values, indices, f](std::uint32_t) {
    constexpr std::size_t k_least_block = 2048;
    const std::span<T> own = values.local();
    const std::uint64_t first = values.local_range().first;
    const bool together = same_places(values.layout(), indices.layout());
    const block_division division(own.size(), k_least_block, worker_count());
    division.run([&](std::size_t block) {
      const std::size_t begin = division.begin(block);
      const std::size_t size = division.size(block);
      if (together) return f(std::span<const Index>(indices.local()).subspan(begin, size), own.subspan(begin, size));
      element_stream<Index> stream(indices, first + begin, first + begin + size);
      for (auto piece = stream.next(); !piece.empty(); piece = stream.next())
        f(piece, own.subspan(stream.index() - first, piece.size()));
    });
  });
}

template <class T, class Index>
bool must_be_in_order(const array_ref<T>& values, const array_ref<Index>& indices) noexcept {
  return node_count() > 1 && !same_places(values.layout(), indices.layout());
}

inline void require_indices(std::uint64_t elements, std::uint64_t indices) {
  if (elements == indices) return;
  throw error(errc::invalid_argument, "there are " + std::to_string(elements) + " elements and " +
                                          std::to_string(indices) + " indices; give an index for each element");
}

template <class A, class B>
void require_two(const array_ref<A>& a, const array_ref<B>& b) noexcept {
  SHOAL_ASSERT(a.empty() || b.empty() || a.id() != b.id(),
               "source and target of a gather or scatter are the same array; permute() works in place");
}

}  // namespace detail

template <detail::global_elements Target, detail::global_elements Source, detail::global_indices Indices>
requires std::same_as<detail::element_in<Target>, detail::element_in<Source>>
void gather_into(const Target& target, const Source& source, const Indices& indices) {
  using element = detail::element_in<Target>;
  detail::require_indices(target.size(), indices.size());
  const auto to = detail::handle_of(target);
  const auto from = detail::handle_of(source);
  const auto list = detail::handle_of(indices);
  if (list.empty()) return;
  detail::require_two(to, from);
  const detail::parts_in_order<element> ordered(to, detail::must_be_in_order(to, list));
  detail::for_indexed(ordered.ref(), list, [from](auto piece, std::span<element> values) {
    from.async_gather(piece, values);  // complete when the loop ends
  });
  ordered.put_back();
}

template <detail::global_elements Target, detail::global_elements Source, detail::global_indices Indices>
requires std::same_as<detail::element_in<Target>, detail::element_in<Source>>
void scatter_into(const Target& target, const Source& source, const Indices& indices) {
  using element = detail::element_in<Source>;
  detail::require_indices(source.size(), indices.size());
  const auto to = detail::handle_of(target);
  const auto from = detail::handle_of(source);
  const auto list = detail::handle_of(indices);
  if (list.empty()) return;
  detail::require_two(to, from);
  const detail::parts_in_order<element> ordered(from, detail::must_be_in_order(from, list));
  detail::for_indexed(ordered.ref(), list, [to](auto piece, std::span<element> values) {
    to.async_scatter(piece, std::span<const element>(values));
  });
}

template <detail::global_elements Array, detail::global_indices Places>
void permute(const Array& array, const Places& places) {
  const auto a = detail::handle_of(array);
  detail::require_indices(a.size(), places.size());
  if (a.empty()) return;
  const global_array<detail::element_in<Array>> moved(a.size(), like(a));
  scatter_into(moved, a, places);
  a.copy(0, moved, 0, a.size());
}

}  // namespace shoal
