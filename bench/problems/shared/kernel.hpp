// SPDX-License-Identifier: Apache-2.0
// Tasks look up and change a small table under a lock that readers share. Variants: `read`: every operation reads;
// `mixed`: one in 16 changes an entry, as a cache that is filled now and then; `write`: every second one.
// A change adds the same to two entries, so that whoever reads the table sees their difference unchanged; the check is that
// all have seen so, and that the changes add up. Work: operations. Test: tests/unit/problems/shared_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace problems::shared {

struct problem {
  static constexpr const char* k_name = "shared";
  static constexpr const char* k_work_unit = "operation";
  static constexpr std::uint64_t k_size = 2'000'000;
  static constexpr std::uint64_t k_test_size = 20'000;
  static constexpr std::string_view k_variants[] = {"mixed", "read", "write"};
  static constexpr std::uint64_t k_per_task = 1'000;
  using result = std::uint64_t;  // wrong differences

  problem(std::uint64_t size, std::size_t which) : operations(size), one_in(which == 0 ? 16 : which == 1 ? 0 : 2) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is how many operations, 1 to 10^9");
  }

  void prepare() {
    table_ = {};
    done_.store(0, std::memory_order_relaxed);
  }

  /// Operations [first, last): read(body) and write(body) call the body under the lock. Gives how many saw a wrong table.
  template <class Read, class Write>
  std::uint64_t operate(std::uint64_t first, std::uint64_t last, const Read& read, const Write& write) const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      const std::size_t at = (i * 0x9e3779b97f4a7c15) >> 57;  // below 128
      if (changes(i))
        write([&] {
          table_[at] += 1;
          table_[at + 128] += 1;
        });
      else
        read([&] { wrong += table_[at] == table_[at + 128] ? 0 : 1; });
    }
    done_.fetch_add(last - first, std::memory_order_relaxed);
    return wrong;
  }

  bool valid(result wrong) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t entry : table_) sum += entry;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < operations; ++i) expected += changes(i) ? 2 : 0;
    return wrong == 0 && sum == expected;
  }
  std::uint64_t work(result) const noexcept { return done_.load(std::memory_order_relaxed); }
  std::uint64_t tasks() const noexcept { return (operations + k_per_task - 1) / k_per_task; }

  std::uint64_t operations;
  std::uint64_t one_in;  // 0: none changes anything

private:
  bool changes(std::uint64_t i) const noexcept { return one_in != 0 && i % one_in == 0; }

  mutable std::array<std::uint64_t, 256> table_{};
  mutable std::atomic<std::uint64_t> done_{0};  // partners: the tasks
};

}  // namespace problems::shared
