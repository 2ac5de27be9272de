// SPDX-License-Identifier: Apache-2.0
#include "remote/handlers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "remote/code.hpp"
#include "shoal/detail/message.hpp"
#include "unit/remote/channels.hpp"

namespace shoal::remote {
namespace {

using namespace shoal::detail;

// A node's segment and the reply stream to one other node.
class handler_runs : public testing::TestWithParam<bool> {
protected:
  handler_runs() : memory_(64) {
    replies_.attach(out_, stream_, counts_, 0);
    serving_.base = reinterpret_cast<std::byte*>(memory_.data());
    serving_.capacity_bytes = memory_.size() * 8;
    serving_.replies = &replies_;
    serving_.reply_stream = &stream_;
  }
  // Whether the whole buffer is refused at its first command.
  bool refused(const words& buffer) {
    const std::uint64_t* const end = buffer.data() + buffer.size();
    return handlers(GetParam())[operation_of(buffer[0])](serving_, buffer.data(), end) == nullptr;
  }
  // Runs the buffer as a server does; how many words were executed.
  std::size_t run(const words& buffer) {
    const std::uint64_t* at = buffer.data();
    const std::uint64_t* const end = at + buffer.size();
    while (at < end) {
      const auto* reached = handlers(GetParam())[operation_of(*at)](serving_, at, end);
      if (reached == at) break;
      at = reached;
    }
    replies_.publish(aggregate::reason::asked);
    return static_cast<std::size_t>(at - buffer.data());
  }
  static std::uint64_t op(verb v, std::uint64_t small, std::uint64_t index) {
    return header(operation(v, element::u64), small, index * 8);
  }

  std::vector<std::uint64_t> memory_;
  test_out out_;
  stream stream_;
  aggregate::flush_counts counts_;
  aggregate::outbox replies_;
  serving serving_;
};
INSTANTIATE_TEST_SUITE_P(exclusive, handler_runs, testing::Bool());

TEST_P(handler_runs, small_and_following_values_mix) {
  const words buffer{op(verb::add, 5, 0),
                     op(verb::add, k_value_follows, 1),
                     1'000'000,
                     op(verb::add, 0xfff, 0),
                     op(verb::put, 7, 2),
                     op(verb::put, k_value_follows, 3),
                     ~std::uint64_t{0} / 3,
                     op(verb::add, 1, 3)};
  EXPECT_EQ(run(buffer), buffer.size());
  EXPECT_EQ(memory_[0], 4U);
  EXPECT_EQ(memory_[1], 1'000'000U);
  EXPECT_EQ(memory_[2], 7U);
  EXPECT_EQ(memory_[3], ~std::uint64_t{0} / 3 + 1);
  EXPECT_EQ(serving_.executed, 6U);
  EXPECT_TRUE(out_.sent.empty());
}

TEST_P(handler_runs, replies_come_in_the_order_of_the_requests) {
  memory_[0] = 10;
  memory_[1] = 20;
  const words buffer{op(verb::get, 0, 0),
                     op(verb::get, 0, 1),
                     op(verb::fetch_add, 1, 0),
                     op(verb::get, 0, 0),
                     op(verb::compare_exchange, 0, 1),
                     20,
                     21,
                     op(verb::compare_exchange, 0, 1),
                     20,
                     22,
                     op(verb::exchange, 3, 1)};
  EXPECT_EQ(run(buffer), buffer.size());
  EXPECT_EQ(out_.all(), (words{10, 20, 10, 11, 20, 21, 21}));
  EXPECT_EQ(memory_[1], 3U);
  EXPECT_EQ(serving_.executed, 7U);
}

TEST_P(handler_runs, tests_reply_whether_the_element_changed) {
  memory_[0] = 10;
  const words buffer{op(verb::test_min, 12, 0),
                     op(verb::test_min, 7, 0),
                     op(verb::test_max, k_value_follows, 0),
                     5000,
                     op(verb::test_max, k_value_follows, 0),
                     5000,
                     op(verb::test_or, 0x408, 0),
                     op(verb::test_or, 0x407, 0),
                     op(verb::test_and, 0x7, 0)};
  EXPECT_EQ(run(buffer), buffer.size());
  EXPECT_EQ(out_.all(), (words{0, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(memory_[0], 7U);
  EXPECT_EQ(serving_.executed, 7U);
}

TEST_P(handler_runs, gets_go_on_when_there_is_room_for_replies_again) {
  for (std::uint64_t i = 0; i < memory_.size(); ++i) memory_[i] = i;
  words buffer;
  for (std::uint64_t i = 0; i < 100; ++i) buffer.push_back(op(verb::get, 0, i % memory_.size()));
  out_.bound = 2;
  const std::size_t at = run(buffer);
  EXPECT_EQ(at, 2 * test_out::k_words);
  out_.taken = 2;
  EXPECT_EQ(run({buffer.begin() + static_cast<std::ptrdiff_t>(at), buffer.end()}), 100 - at);
  const words got = out_.all();
  ASSERT_EQ(got.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(got[i], i % memory_.size());
  EXPECT_EQ(serving_.executed, 100U);
  out_.taken = out_.sent.size();
  EXPECT_TRUE(refused({op(verb::get, 0, 0), op(verb::get, 0, memory_.size())}));
}

TEST_P(handler_runs, without_room_for_a_reply_they_stop_in_front_of_the_command_and_go_on_later) {
  words buffer;
  for (std::uint64_t i = 0; i < 100; ++i) buffer.push_back(op(verb::fetch_add, 1, 0));
  out_.bound = 2;
  std::size_t at = run(buffer);
  EXPECT_EQ(at, 2 * test_out::k_words);
  EXPECT_EQ(memory_[0], at);  // executed as often as answered
  EXPECT_EQ(run({buffer.begin() + static_cast<std::ptrdiff_t>(at), buffer.end()}), 0U);
  out_.taken = 2;
  at += run({buffer.begin() + static_cast<std::ptrdiff_t>(at), buffer.end()});
  EXPECT_EQ(at, 100U);
  const words got = out_.all();
  ASSERT_EQ(got.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(got[i], i);
}

TEST_P(handler_runs, bulk_copies_both_ways) {
  words put{header(static_cast<std::uint8_t>(other_operation::bulk_put), 8, 16), 24, 1, 2, 3, op(verb::add, 1, 2)};
  EXPECT_EQ(run(put), put.size());
  EXPECT_EQ(memory_[2], 2U);
  EXPECT_EQ(memory_[3], 2U);
  EXPECT_EQ(memory_[4], 3U);
  const words get{header(static_cast<std::uint8_t>(other_operation::bulk_get), 4, 24), 12};
  EXPECT_EQ(run(get), 2U);
  ASSERT_EQ(out_.all().size(), 2U);
  EXPECT_EQ(out_.all()[0], 2U);
  EXPECT_EQ(out_.all()[1] & 0xffffffff, 3U);
}

void note(const arrival& a) noexcept {
  auto* to = reinterpret_cast<words*>(a.payload[0]);
  to->push_back(a.from);
  to->insert(to->end(), a.payload.begin() + 1, a.payload.end());
}

TEST_P(handler_runs, calls_are_executed_in_place_with_their_payload) {
  words said;
  const std::uint64_t code = encode_body(receiver_of<note>());
  const auto call = [&](std::uint64_t n) { return header(static_cast<std::uint8_t>(other_operation::call), n, code); };
  serving_.from = 4;
  struct face : worker_base {
  } w;
  serving_.worker = &w;
  const auto to = reinterpret_cast<std::uintptr_t>(&said);
  const words buffer{call(3), to, 1, 2, call(1), to, op(verb::add, 1, 0), call(2), to, 9};
  EXPECT_EQ(run(buffer), buffer.size());
  EXPECT_EQ(said, (words{4, 1, 2, 4, 4, 9}));
  EXPECT_EQ(memory_[0], 1U);
}

TEST_P(handler_runs, elements_out_of_the_memory_or_not_aligned_are_refused) {
  const auto at = [](verb v, element e, std::uint64_t offset) { return words{header(operation(v, e), 0, offset)}; };
  for (const verb v : {verb::put, verb::get, verb::add, verb::exchange}) {
    EXPECT_FALSE(refused(at(v, element::u64, 63 * 8)));
    EXPECT_TRUE(refused(at(v, element::u64, 64 * 8)));
    EXPECT_TRUE(refused(at(v, element::u64, 63 * 8 + 4)));
    EXPECT_TRUE(refused(at(v, element::i16, 2 + 1)));
    EXPECT_FALSE(refused(at(v, element::u8, 64 * 8 - 1)));
    EXPECT_TRUE(refused(at(v, element::u8, 64 * 8)));
    EXPECT_TRUE(refused(at(v, element::f32, k_offset_mask)));
  }
  words later{op(verb::add, 1, 0), op(verb::add, 1, 64)};
  EXPECT_TRUE(refused(later));
}

TEST_P(handler_runs, commands_that_are_cut_off_are_refused) {
  EXPECT_TRUE(refused({op(verb::add, k_value_follows, 0)}));
  EXPECT_TRUE(refused({op(verb::compare_exchange, 0, 0), 1}));
  const auto bulk = [](other_operation o, std::uint64_t unit, std::uint64_t offset) {
    return header(static_cast<std::uint8_t>(o), unit, offset);
  };
  EXPECT_TRUE(refused({bulk(other_operation::bulk_put, 8, 0)}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_put, 8, 0), 16, 1}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_put, 8, 0), ~std::uint64_t{0}, 1}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_put, 8, 63 * 8), 16, 1, 2}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_put, 8, 4), 8, 1}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_get, 8, 0)}));
  EXPECT_TRUE(refused({bulk(other_operation::bulk_get, 0, 1), 64 * 8}));
  EXPECT_TRUE(refused({header(255, 0, 0)}));
}

TEST_P(handler_runs, calls_of_what_is_not_registered_are_refused) {
  struct face : worker_base {
  } w;
  serving_.worker = &w;
  const auto call = [](std::uint64_t n, std::uint64_t code) {
    return header(static_cast<std::uint8_t>(other_operation::call), n, code);
  };
  const std::uint64_t code = encode_body(receiver_of<note>());
  EXPECT_TRUE(refused({call(2, code), 0}));  // cut off
  EXPECT_TRUE(refused({call(0, code | 0xffffff)}));
  EXPECT_TRUE(refused({call(0, k_offset_mask)}));
  const auto address = reinterpret_cast<std::uintptr_t>(&note);
  EXPECT_TRUE(refused({call(0, address & k_offset_mask)}));
}

}  // namespace
}  // namespace shoal::remote
