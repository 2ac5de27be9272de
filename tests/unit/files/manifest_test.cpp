// SPDX-License-Identifier: Apache-2.0
#include "files/manifest.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shoal/error.hpp"

namespace {

using namespace shoal;
using files::manifest;

manifest example() {
  manifest m;
  m.number = 7;
  m.nodes = 2;
  m.arrays.push_back({"rank", {'f', 8}, 6, 0xabcdefU, {2, 3}});
  m.arrays.push_back({"empty", {'V', 24}, 0, ~std::uint64_t{0}, {0}});
  m.values.push_back({"round", {'u', 4}, std::string("\x01\x00\xff\x7f", 4)});
  return m;
}

std::string manifest_refusal(const std::string& text) {
  try {
    files::read_manifest("m", text);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_input);
    return e.what();
  }
  return "nothing was refused";
}

// With the checksum that belongs to these lines.
std::string sealed(const std::string& lines) {
  const std::string text = "shoal checkpoint 1\n" + lines;
  return text + files::checksum_line(text);
}

TEST(manifest, says_what_was_written) {
  const manifest m = files::read_manifest("m", files::text_of(example()));
  EXPECT_EQ(m.number, 7U);
  EXPECT_EQ(m.nodes, 2U);
  ASSERT_EQ(m.arrays.size(), 2U);
  EXPECT_EQ(m.arrays[0].name, "rank");
  EXPECT_EQ(m.arrays[0].type.name(), "f8");
  EXPECT_EQ(m.arrays[0].size, 6U);
  EXPECT_EQ(m.arrays[0].file_id, 0xabcdefU);
  EXPECT_EQ(m.arrays[0].shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(m.arrays[1].type.bytes, 24U);
  ASSERT_EQ(m.values.size(), 1U);
  EXPECT_EQ(m.values[0].bytes, example().values[0].bytes);
}

TEST(manifest, every_changed_byte_and_every_truncation_is_refused) {
  const std::string whole = files::text_of(example());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string other = whole;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_TRUE(manifest_refusal(other).starts_with("m ")) << i;
    EXPECT_TRUE(manifest_refusal(whole.substr(0, i)).starts_with("m ")) << i;
  }
}

TEST(manifest, lines_that_mean_nothing_are_refused_by_number) {
  EXPECT_EQ(files::read_manifest("m", sealed("number 1\n")).number, 1U);
  for (const char* line :
       {"word 1", "number", "number x", "number 1 2", "array a f8 6 1 2x2", "array a f8 6 1 2x", "array a f8 6 1",
        "array a q8 6 1 6", "array a f0 6 1 6", "array a/b f8 6 1 6", "array a f8 6 1 1x1x1x1x1x1x1x1x6",
        "array a f8 0 1 4294967296x4294967296", "value v u4 0102", "value v u4 0102030g", "value v V70000 00", ""})
    EXPECT_NE(manifest_refusal(sealed("number 1\n" + std::string(line) + "\n")).find("line 3"), std::string::npos)
        << line;
  EXPECT_NE(manifest_refusal(sealed("number 1\nvalue v u1 00\nvalue v u1 00\n")).find("line 4"), std::string::npos);
  EXPECT_NE(manifest_refusal(sealed("nodes 1\n")).find("no number"), std::string::npos);
  EXPECT_NE(manifest_refusal("shoal checkpoint 2\n").find("version"), std::string::npos);
}

TEST(manifest, names_are_those_of_files) {
  for (const char* good : {"a", "rank_2", "A-b.c", "0"}) EXPECT_TRUE(files::is_checkpoint_name(good)) << good;
  for (const std::string& bad : {std::string(), std::string("."), std::string("a/b"), std::string("a b"),
                                 std::string("a\nb"), std::string(101, 'a'), std::string("\xc3\xa4")})
    EXPECT_FALSE(files::is_checkpoint_name(bad)) << bad;
}

}  // namespace
