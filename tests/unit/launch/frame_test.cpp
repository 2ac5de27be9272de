// SPDX-License-Identifier: Apache-2.0
#include "launch/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launch/byte_stream.hpp"
#include "launch/control_message.hpp"
#include "shoal/random.hpp"

namespace shoal::launch {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

TEST(frame, arrives_whole_however_it_was_cut) {
  const std::vector<std::byte> large(100'000, std::byte{7});
  std::vector<std::byte> stream;
  for (const auto& f : {frame_bytes(frame_type::given, {}), frame_bytes(frame_type::lost, large),
                        frame_bytes(frame_type::life, bytes_of("x"))})
    stream.insert(stream.end(), f.begin(), f.end());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    frame_reader reader;
    std::vector<frame> got;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.add(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
      while (auto f = reader.next()) got.push_back(std::move(*f));
    }
    ASSERT_EQ(got.size(), 3U) << step;
    EXPECT_EQ(got[0].type, frame_type::given);
    EXPECT_TRUE(got[0].payload.empty());
    EXPECT_EQ(got[1].payload, large);
    EXPECT_EQ(got[2].payload, bytes_of("x"));
    EXPECT_FALSE(reader.broken());
  }
}

TEST(frame, too_long_or_of_no_known_type_breaks_the_reader_for_good) {
  for (const auto& [length, type] :
       {std::pair{k_most_frame_bytes + 1, 5U}, std::pair{std::size_t{0xffffffff}, 5U}, std::pair{std::size_t{0}, 0U},
        std::pair{std::size_t{0}, 10U}, std::pair{std::size_t{0}, 0x0500U}}) {
    std::vector<std::byte> bytes;
    byte_writer out(bytes);
    out.number(static_cast<std::uint32_t>(length));
    out.number(type);
    frame_reader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken()) << length << " " << type;
    reader.add(frame_bytes(frame_type::life, {}));
    EXPECT_FALSE(reader.next());
  }
}

TEST(frame, random_bytes_neither_crash_nor_grow) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    xoshiro256ss random(seed);
    frame_reader reader;
    for (int i = 0; i < 20; ++i) {
      std::vector<std::byte> some(random.below(64));
      for (std::byte& b : some) b = static_cast<std::byte>(random.below(random.below(2) != 0 ? 256 : 10));
      reader.add(some);
      while (const auto f = reader.next()) {
        EXPECT_LE(f->payload.size(), std::size_t{20 * 64});
        hello_message::parse(f->payload);
        welcome_message::parse(f->payload);
        refusal_message::parse(f->payload);
        loss_message::parse(f->payload);
        parts_block::parse(f->payload, 100);
      }
    }
  }
}

TEST(frame, messages_are_read_as_they_were_written_and_not_when_they_are_cut) {
  const hello_message hello{3, 4, {4711, "host"}, "code", "workers 2"};
  const welcome_message welcome{5'000'000'000, 3, {1, "hub"}, {2, "a"}};
  const auto parts = parts_block::bytes(1, std::vector(2, std::vector(3, std::byte{7})));
  const refusal_message refusal{errc::timeout, "node 1 has not started"};
  const loss_message lost{2, 15, "stopped"};
  EXPECT_EQ(hello_message::parse(hello.bytes())->settings, "workers 2");
  EXPECT_EQ(welcome_message::parse(welcome.bytes())->nodes, 3U);
  EXPECT_EQ(welcome_message::parse(welcome.bytes())->first, welcome.first);
  EXPECT_EQ(refusal_message::parse(refusal.bytes())->code, errc::timeout);
  EXPECT_EQ(loss_message::parse(lost.bytes())->signal, 15U);
  const auto cut = [](std::vector<std::byte> bytes, auto parse) {
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_FALSE(parse(bytes)) << bytes.size();
    }
  };
  cut(hello.bytes(), hello_message::parse);
  cut(welcome.bytes(), welcome_message::parse);
  cut(refusal.bytes(), refusal_message::parse);
  cut(lost.bytes(), loss_message::parse);
  cut(parts, [](std::span<const std::byte> bytes) { return parts_block::parse(bytes, 3); });
}

TEST(frame, texts_of_others_cannot_disturb_a_terminal) {
  const loss_message lost{2, 0, "bad\n\x1b[2Jword"};
  EXPECT_EQ(loss_message::parse(lost.bytes())->why, "bad??[2Jword");
}

std::vector<std::vector<std::byte>> parts_of_sizes(std::initializer_list<std::size_t> sizes) {
  std::vector<std::vector<std::byte>> parts;
  for (const std::size_t size : sizes) parts.emplace_back(size, static_cast<std::byte>(parts.size() + 1));
  return parts;
}

TEST(parts_block, holds_parts_of_any_sizes_in_order) {
  for (const auto& parts : {parts_of_sizes({}), parts_of_sizes({0}), parts_of_sizes({5}), parts_of_sizes({0, 0, 0}),
                            parts_of_sizes({3, 3, 0, 0, 7, 3}), parts_of_sizes({1, 2, 1, 2})}) {
    const auto nodes = static_cast<std::uint32_t>(parts.size()) + 4;
    const auto bytes = parts_block::bytes(4, parts);
    const auto block = parts_block::parse(bytes, nodes);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->first(), 4U);
    EXPECT_EQ(block->count(), parts.size());
    std::uint32_t next = 4;
    block->for_each([&](std::uint32_t node, std::span<const std::byte> part) {
      EXPECT_EQ(node, next);
      EXPECT_TRUE(std::ranges::equal(part, parts[next++ - 4]));
    });
    EXPECT_EQ(next, nodes);
    EXPECT_FALSE(parts_block::parse(bytes, nodes - 1)) << "a node that there is none of";
  }
  EXPECT_EQ(parts_block::bytes(0, parts_of_sizes({0, 0, 0, 0})).size(),
            parts_block::bytes(0, parts_of_sizes({0})).size());
}

TEST(frame, a_count_that_cannot_be_is_refused_before_memory_is_taken) {
  auto bytes = parts_block::bytes(0, parts_of_sizes({0}));
  for (std::size_t i = bytes.size() - 8; i < bytes.size() - 4; ++i) bytes[i] = std::byte{0xff};
  EXPECT_FALSE(parts_block::parse(bytes, 1000)) << "a run of 2^32 - 1 parts";
  bytes = parts_block::bytes(0, parts_of_sizes({0}));
  for (std::size_t i = 4; i < 8; ++i) bytes[i] = std::byte{0xff};
  EXPECT_FALSE(parts_block::parse(bytes, 1000)) << "2^32 - 1 runs";
}

}  // namespace
}  // namespace shoal::launch
