// SPDX-License-Identifier: Apache-2.0
// A hash join of two tables: SELECT region, SUM(amount) FROM orders JOIN customers USING (customer) GROUP BY region. The
// customers enter a map over all nodes; the customers of a piece of
// the orders are looked up together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shoal/global_map.hpp"
#include "shoal/shoal.hpp"

namespace examples {

struct customer {
  std::uint64_t id;
  std::uint32_t region;
};
struct order {
  std::uint64_t customer;
  std::uint64_t amount;
};

/// Returns the sum of each region. Orders of unknown customers do not count.
inline std::vector<std::uint64_t> join(const shoal::array_ref<customer>& customers,
                                       const shoal::array_ref<order>& orders, std::uint32_t regions) {
  const shoal::global_map<std::uint64_t, std::uint32_t> region_of(customers.size());
  const shoal::global_array<std::uint64_t> sums(regions);
  shoal::parallel_for(shoal::parts_of(customers), [m = region_of.ref()](std::uint64_t, std::span<const customer> part) {
    for (const customer& c : part) m.async_insert(c.id, c.region);
  });
  shoal::parallel_for(shoal::parts_of(orders),
                      [m = region_of.ref(), s = sums.ref()](std::uint64_t, std::span<const order> part) {
                        std::vector<std::uint64_t> ids(part.size());
                        std::vector<std::optional<std::uint32_t>> found(part.size());
                        std::ranges::transform(part, ids.begin(), &order::customer);
                        m.get(ids, found);
                        for (std::size_t k = 0; k < part.size(); ++k)
                          if (found[k]) s.async_add(*found[k], part[k].amount);
                      });
  std::vector<std::uint64_t> result(regions);
  sums->get(0, std::span(result));
  return result;
}

}  // namespace examples
