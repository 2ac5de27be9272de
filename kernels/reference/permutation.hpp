// SPDX-License-Identifier: Apache-2.0
// Whether an array over all nodes is a permutation of its indices: each number below its size is an element of it once.
// Who may call: tasks; it switches. Memory: 4 bytes per element. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::reference {

template <class T>
bool is_permutation(const array_ref<T>& numbers) {
  const std::uint64_t size = numbers.size();
  if (size == 0) return true;
  const global_array<std::uint32_t> times(size);
  const std::uint64_t beyond = parallel_reduce(
      owners_of(numbers), size, std::uint64_t{0},
      [numbers, times = times.ref()](std::uint64_t i) -> std::uint64_t {
        const std::uint64_t number = numbers.get(i);
        if (number >= times.size()) return 1;
        times.async_add(number, 1);
        return 0;
      },
      std::plus<>());
  const std::uint64_t once = parallel_reduce(
      owners_of(times), size, std::uint64_t{0},
      [times = times.ref()](std::uint64_t i) -> std::uint64_t { return times.get(i) == 1 ? 1 : 0; }, std::plus<>());
  return beyond == 0 && once == size;
}

}  // namespace shoal::kernels::reference
