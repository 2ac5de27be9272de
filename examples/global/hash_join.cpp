// SPDX-License-Identifier: Apache-2.0
// Joins four orders per customer with the customers:   hash_join [CUSTOMERS]
#include "hash_join.hpp"

#include "seconds.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    const std::uint64_t n = examples::number(argc, argv, 1, 1'000'000);
    constexpr std::uint32_t regions = 64;
    const shoal::global_array<examples::customer> customers(n);
    const shoal::global_array<examples::order> orders(4 * n);
    const shoal::global_array<std::uint64_t> expected(regions);
    shoal::parallel_for(shoal::owners_of(customers), n, [c = customers.ref()](std::uint64_t i) {
      c.put(i, {shoal::mix64(i), static_cast<std::uint32_t>(i % regions)});
    });
    shoal::parallel_for(shoal::owners_of(orders), 4 * n, [=, o = orders.ref(), e = expected.ref()](std::uint64_t i) {
      const std::uint64_t drawn = shoal::mix64(~i);
      o.put(i, {shoal::mix64(drawn % n), drawn % 1000});
      e.async_add(drawn % n % regions, drawn % 1000);
    });
    std::vector<std::uint64_t> sums;
    examples::timed("hash join", [&] { sums = examples::join(customers, orders, regions); });
    std::vector<std::uint64_t> right(regions);
    expected->get(0, std::span(right));
    return examples::verdict(sums == right);
  });
}
