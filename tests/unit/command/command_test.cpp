// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/command.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace shoal::detail {
namespace {

TEST(command, a_header_gives_back_what_it_was_made_of) {
  for (const auto code : {std::uint8_t{0}, std::uint8_t{17}, std::uint8_t{255}})
    for (const std::uint64_t small : {0U, 1U, 0x7ffU, 0x800U, 0xfffU})
      for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{8}, k_offset_mask}) {
        const std::uint64_t h = header(code, small, offset);
        EXPECT_EQ(operation_of(h), code);
        EXPECT_EQ(small_of(h), small);
        EXPECT_EQ(offset_of(h), offset);
      }
  // What is too large for the small value must not reach the operation.
  EXPECT_EQ(operation_of(header(3, ~std::uint64_t{0}, 0)), 3);
}

TEST(command, operations_of_verbs_and_types_differ_and_leave_room_for_the_others) {
  std::set<unsigned> codes{static_cast<unsigned>(other_operation::bulk_put),
                           static_cast<unsigned>(other_operation::bulk_get),
                           static_cast<unsigned>(other_operation::call)};
  for (unsigned v = 0; v < static_cast<unsigned>(verb::all_count); ++v)
    for (unsigned e = 0; e < static_cast<unsigned>(element::count); ++e)
      EXPECT_TRUE(codes.insert(operation(static_cast<verb>(v), static_cast<element>(e))).second) << v << " " << e;
  EXPECT_EQ(codes.size(), 20U * 10 + 3);
  EXPECT_LT(*codes.rbegin(), k_operations);
}

TEST(command, types_of_one_width_and_sign_are_one_element) {
  EXPECT_EQ(element_of<long>(), element_of<long long>());
  EXPECT_EQ(element_of<unsigned long>(), element::u64);
  EXPECT_EQ(element_of<std::int8_t>(), element::i8);
  EXPECT_EQ(element_of<float>(), element::f32);
  EXPECT_NE(element_of<double>(), element_of<std::uint64_t>());
}

template <class T>
void round_trip(T value) {
  const std::uint64_t word = to_word(value);
  EXPECT_EQ(from_word<T>(word), value);
  if (fits_small(word)) {
    EXPECT_NE(word & k_small_mask, k_value_follows);
    EXPECT_EQ(from_word<T>(widen_small(word & k_small_mask)), value);
  }
}

template <class T>
void round_trips() {
  for (const T value : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T{0}, T{1}, static_cast<T>(-1),
                        static_cast<T>(100), static_cast<T>(-100)})
    round_trip(value);
}

TEST(command, values_survive_the_way_through_a_word) {
  round_trips<std::uint8_t>();
  round_trips<std::int8_t>();
  round_trips<std::uint16_t>();
  round_trips<std::int16_t>();
  round_trips<std::uint32_t>();
  round_trips<std::int32_t>();
  round_trips<std::uint64_t>();
  round_trips<std::int64_t>();
  round_trips<double>();
  round_trips<float>();
  round_trip(true);
  round_trip(false);
  round_trip(1e-300);
  for (std::int64_t v = -5000; v <= 5000; ++v) round_trip(v);
}

TEST(command, small_values_are_those_of_twelve_signed_bits_but_one) {
  for (std::int64_t v = -3000; v <= 3000; ++v) EXPECT_EQ(fits_small(to_word(v)), v > -2048 && v < 2048) << v;
  EXPECT_TRUE(fits_small(to_word(std::uint32_t{0xffffffff})));  // minus one of its width
  EXPECT_FALSE(fits_small(to_word(1.0)));
}

TEST(command, words_for_rounds_up) {
  EXPECT_EQ(words_for(0), 0U);
  EXPECT_EQ(words_for(1), 1U);
  EXPECT_EQ(words_for(8), 1U);
  EXPECT_EQ(words_for(9), 2U);
}

}  // namespace
}  // namespace shoal::detail
