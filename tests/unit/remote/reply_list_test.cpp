// SPDX-License-Identifier: Apache-2.0
// Where the words of replies go: rows of values share an entry, which arrives in parts; a mark ends a row.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "shoal/detail/port.hpp"

namespace shoal::remote {
namespace {

using detail::reply_kind;
using detail::reply_list;

// Takes `words` in pieces of `piece`.
void take(reply_list& list, const std::vector<std::uint64_t>& words, std::size_t piece) {
  for (std::size_t at = 0; at < words.size(); at += piece) {
    const std::uint64_t* const begin = words.data() + at;
    const std::uint64_t* const end = begin + std::min(piece, words.size() - at);
    ASSERT_EQ(list.take_values(begin, end), end);
  }
}

template <class T>
void rows(reply_kind kind) {
  for (const std::size_t piece : {1, 3, 1000, 100'000}) {
    reply_list list;
    std::vector<T> values(10'000);
    std::vector<std::uint64_t> words(values.size());
    std::iota(words.begin(), words.end(), std::uint64_t{0xfedc'ba98'7654'3210});
    for (T& one : values) list.expect(kind, &one);
    EXPECT_EQ(list.mark(), (values.size() + reply_list::k_most_row - 1) / reply_list::k_most_row);
    take(list, words, piece);
    EXPECT_TRUE(list.empty());
    for (std::size_t k = 0; k < values.size(); ++k) ASSERT_EQ(values[k], static_cast<T>(words[k]));
  }
}

TEST(reply_list_test, values_in_a_row_have_one_entry) {
  rows<std::uint8_t>(reply_kind::value_1);
  rows<std::uint16_t>(reply_kind::value_2);
  rows<std::uint32_t>(reply_kind::value_4);
  rows<std::uint64_t>(reply_kind::value_8);
}

TEST(reply_list_test, values_elsewhere_have_entries_of_their_own) {
  reply_list list;
  std::array<std::uint64_t, 100> values{};
  std::vector<std::uint64_t> words(100);
  std::iota(words.begin(), words.end(), 0);
  for (std::size_t k = 0; k < 100; ++k) list.expect(reply_kind::value_8, &values[k * 37 % 100]);
  EXPECT_EQ(list.mark(), 100U);
  take(list, words, 7);
  for (std::size_t k = 0; k < 100; ++k) ASSERT_EQ(values[k * 37 % 100], k);
}

TEST(reply_list_test, a_row_goes_on_while_some_of_it_has_arrived_but_not_when_all_has) {
  reply_list list;
  std::array<std::uint32_t, 8> values{};
  for (std::size_t k = 0; k < 4; ++k) list.expect(reply_kind::value_4, &values[k]);
  take(list, {10, 11, 12}, 3);
  EXPECT_FALSE(list.empty());
  list.expect(reply_kind::value_4, &values[4]);
  EXPECT_EQ(list.popped(), 0U);
  take(list, {13, 14}, 2);
  EXPECT_TRUE(list.empty());
  list.expect(reply_kind::value_4, &values[5]);
  list.expect(reply_kind::value_4, &values[6]);
  take(list, {15, 16}, 1);
  EXPECT_EQ(values, (std::array<std::uint32_t, 8>{10, 11, 12, 13, 14, 15, 16, 0}));
  EXPECT_EQ(list.popped(), 2U);
}

TEST(reply_list_test, what_is_expected_after_a_mark_does_not_delay_it) {
  reply_list list;
  std::array<std::uint64_t, 4> values{};
  list.expect(reply_kind::value_8, &values[0]);
  list.expect(reply_kind::value_8, &values[1]);
  const std::uint64_t mark = list.mark();
  list.expect(reply_kind::value_8, &values[2]);
  list.expect_row(reply_kind::value_8, &values[3], 1);
  take(list, {1, 2}, 2);
  EXPECT_EQ(list.popped(), mark);
  take(list, {3, 4}, 2);
  EXPECT_EQ(values, (std::array<std::uint64_t, 4>{1, 2, 3, 4}));
}

TEST(reply_list_test, rows_of_a_known_length_and_other_entries_mix) {
  reply_list list;
  std::vector<std::uint16_t> values(reply_list::k_most_row + 2);
  std::uint64_t changes = 0;
  list.expect_row(reply_kind::value_2, values.data(), reply_list::k_most_row);
  list.expect(reply_kind::value_2, &values[reply_list::k_most_row]);
  for (int k = 0; k < 5; ++k) list.expect(reply_kind::tally, &changes);
  list.reserve(1);
  list.push(reply_kind::task, &list);
  list.expect(reply_kind::tally, &changes);
  EXPECT_EQ(list.mark(), 5U);
  std::vector<std::uint64_t> words(reply_list::k_most_row + 1, 9);
  words.insert(words.end(), {1, 0, 1, 1, 0});
  take(list, words, 1000);
  EXPECT_EQ(changes, 3U);
  const std::vector<std::uint64_t> more{77, 1};
  EXPECT_EQ(list.take_values(more.data(), more.data() + 2), more.data());  // that word is for a task
  EXPECT_EQ(reply_list::kind_of(list.pop()), reply_kind::task);
  take(list, {1}, 1);
  EXPECT_EQ(changes, 4U);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(values[reply_list::k_most_row], 9);
  EXPECT_EQ(values[reply_list::k_most_row + 1], 0);
}

}  // namespace
}  // namespace shoal::remote
