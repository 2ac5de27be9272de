// SPDX-License-Identifier: Apache-2.0
// Sorts random keys over all nodes:   sample_sort [KEYS]
#include "seconds.hpp"
#include "shoal/shoal.hpp"
#include "shoal/sort.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    const std::uint64_t n = examples::number(argc, argv, 1, 50'000'000);
    const shoal::global_array<std::uint32_t> keys(n);
    shoal::parallel_for(shoal::parts_of(keys), [](std::uint64_t first, std::span<std::uint32_t> part) {
      for (std::uint32_t& key : part) key = static_cast<std::uint32_t>(shoal::mix64(first++));
    });
    const auto sum = [&] {
      return shoal::parallel_reduce(
          shoal::owners_of(keys), n, std::uint64_t{0},
          [k = keys.ref()](std::uint64_t i) { return shoal::mix64(k.get(i) + 1); }, std::plus<>());
    };
    const std::uint64_t before = sum();
    examples::timed("sort", [&] { shoal::sort(keys); });
    const std::uint64_t falls = shoal::parallel_reduce(
        shoal::owners_of(keys), n, std::uint64_t{0},
        [n, k = keys.ref()](std::uint64_t i) -> std::uint64_t { return i + 1 < n && k.get(i) > k.get(i + 1) ? 1 : 0; },
        std::plus<>());
    return examples::verdict(falls == 0 && sum() == before);
  });
}
