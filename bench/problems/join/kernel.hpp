// SPDX-License-Identifier: Apache-2.0
// A hash join: the sum of the amounts of each region's orders, where a customer has a region and an order a customer. The
// customers' numbers are spread over 64 bits; there are four orders per customer, and every eighth is of an unknown one.
// The check: the sums of the generator. Work: rows of both tables. The size is the number of customers.
// Test: tests/problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bench/problems/random_graph.hpp"

namespace problems::join {

inline constexpr std::uint32_t k_regions = 64;

struct customer {
  std::uint64_t id;
  std::uint32_t region;
};
struct order {
  std::uint64_t customer;
  std::uint64_t amount;
};

/// Open addressing, filled up to a half.
class region_table {
public:
  explicit region_table(std::size_t entries) {
    std::size_t slots = 16;
    while (slots < 2 * entries) slots *= 2;
    slots_.resize(slots);
  }
  void insert(std::uint64_t id, std::uint32_t region) noexcept {
    std::size_t at = place(id);
    while (slots_[at].region != k_free) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {id, region};
  }
  /// k_free if the customer is unknown.
  std::uint32_t find(std::uint64_t id) const noexcept {
    std::size_t at = place(id);
    while (slots_[at].region != k_free && slots_[at].id != id) at = (at + 1) & (slots_.size() - 1);
    return slots_[at].region;
  }
  static constexpr std::uint32_t k_free = ~std::uint32_t{0};

private:
  std::size_t place(std::uint64_t id) const noexcept { return scrambled(id) & (slots_.size() - 1); }

  struct slot {
    std::uint64_t id = 0;
    std::uint32_t region = k_free;
  };
  std::vector<slot> slots_;
};

struct problem {
  static constexpr const char* k_name = "join";
  static constexpr const char* k_work_unit = "row";
  static constexpr std::uint64_t k_size = 1'000'000;
  static constexpr std::uint64_t k_test_size = 10'000;
  using result = std::vector<std::uint64_t>;

  explicit problem(std::uint64_t size) : expected_(k_regions) {
    if (size < 16 || size > 100'000'000) throw std::invalid_argument("the size is the number of customers, 16 to 10^8");
    for (std::uint64_t c = 0; c < size; ++c)
      customers.push_back({scrambled(c + 1), static_cast<std::uint32_t>(scrambled(~c) % k_regions)});
    for (std::uint64_t o = 0; o < 4 * size; ++o) {
      const std::uint64_t drawn = scrambled(o + (std::uint64_t{1} << 40));
      const std::uint64_t amount = 1 + drawn % 1000;
      if (o % 8 == 7) {
        orders.push_back({scrambled(size + 1 + drawn % size), amount});
      } else {
        const customer& c = customers[drawn / 1024 % size];
        orders.push_back({c.id, amount});
        expected_[c.region] += amount;
      }
    }
  }

  bool valid(const result& sums) const { return sums == expected_; }
  std::uint64_t work(const result&) const { return customers.size() + orders.size(); }

  std::vector<customer> customers;
  std::vector<order> orders;

private:
  std::vector<std::uint64_t> expected_;
};

}  // namespace problems::join
