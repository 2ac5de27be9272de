// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/scratch_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "shoal/error.hpp"
#include "shoal/pool.hpp"

namespace shoal::detail {
namespace {

TEST(scratch_memory, is_aligned_and_all_there) {
  pool p(2);
  p.run([] {
    for (const std::size_t bytes : {0, 1, 64, 100'000, 2 << 20, (20 << 20) + 1}) {
      scratch_memory m(bytes, "a test");
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data()) % 64, 0U);
      if (bytes > 0) std::memset(m.data(), 1, bytes);
    }
    scratch_memory m(1000, "a test");
    auto* const bytes = m.take<std::byte>(3);
    auto* const words = m.take<std::uint64_t>(8);
    EXPECT_EQ(reinterpret_cast<std::byte*>(words) - bytes, 64);
  });
}

TEST(scratch_memory, more_than_there_is_is_refused_with_the_figures) {
  pool p(1);
  p.run([] {
    try {
      const scratch_memory m(std::size_t{1} << 50, "sorting");
      FAIL() << "a PiB of memory";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("sorting"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("1.0 PiB"), std::string::npos) << e.what();
    }
  });
}

TEST(scratch_memory, what_new_refuses_is_an_error_with_a_code) {
  try {
    with_memory("sorting", [] { throw std::bad_alloc(); });
    FAIL() << "there was no memory";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_EQ(std::string(e.what()).find("sorting: "), 0U) << e.what();
  }
  EXPECT_EQ(with_memory("sorting", [] { return 7; }), 7);
}

}  // namespace
}  // namespace shoal::detail
