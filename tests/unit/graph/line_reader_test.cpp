// SPDX-License-Identifier: Apache-2.0
#include "graph/line_reader.hpp"

#include "graph/input_error.hpp"
#include "input.hpp"

namespace shoal::graph {
namespace {

using namespace test;

std::vector<std::string> lines_of(std::string_view text) {
  const auto source = open_byte_source(text, "f");
  line_reader reader(*source);
  std::vector<std::string> result;
  std::string_view line;
  while (reader.next(line)) {
    result.emplace_back(line);
    EXPECT_EQ(reader.number(), result.size());
  }
  return result;
}

using strings = std::vector<std::string>;

TEST(LineReader, SplitsAtEveryKindOfEnd) {
  EXPECT_EQ(lines_of("a\nbc\n"), (strings{"a", "bc"}));
  EXPECT_EQ(lines_of("a\r\nbc\r\n"), (strings{"a", "bc"}));
  EXPECT_EQ(lines_of("\n\na"), (strings{"", "", "a"}));
  EXPECT_EQ(lines_of("a\rb\n"), (strings{"a\rb"}));
}

TEST(LineReader, KnowsWhetherTheLastLineEnded) {
  for (const auto& [text, ended] : {std::pair{"a\nb\n", true}, std::pair{"a\nb", false}}) {
    const auto source = open_byte_source(std::string_view{text}, "f");
    line_reader reader(*source);
    std::string_view line;
    while (reader.next(line)) {
    }
    EXPECT_EQ(reader.ended(), ended);
  }
}

TEST(LineReader, LinesAcrossBlocksStayWhole) {
  std::string text;
  strings expected;
  for (std::size_t i = 0; text.size() < 1'200'000; ++i) {
    expected.push_back(std::string(i % 997, static_cast<char>('a' + i % 26)));
    text += expected.back() + "\n";
  }
  EXPECT_EQ(lines_of(text), expected);
}

TEST(LineReader, LongestLineAndOneMore) {
  const std::string longest(line_reader::k_longest_line_bytes, 'x');
  EXPECT_EQ(lines_of("a\n" + longest + "\nb\n"), (strings{"a", longest, "b"}));
  const std::string message = refusal([&] { lines_of("a\n" + longest + "x\nb\n"); });
  EXPECT_EQ(message, "f:2: the line is longer than 65536 bytes; this is not a text with one edge per line");
  EXPECT_EQ(refusal([&] { lines_of("a\n" + std::string(10'000'000, 'x')); }), message);  // without any end in sight
}

class Fields : public testing::Test {
protected:
  template <class F>
  std::string field_refusal(std::string_view line, F&& f) {
    const auto source = open_byte_source("a line\n", "f");
    line_reader reader(*source);
    std::string_view ignored;
    reader.next(ignored);
    return refusal([&] {
      field_cursor fields(reader, line);
      f(fields);
    });
  }
  std::string number_refusal(std::string_view line) {
    return field_refusal(line, [](field_cursor& fields) { fields.number("n"); });
  }
};

TEST_F(Fields, Numbers) {
  const auto source = open_byte_source("x\n", "f");
  line_reader reader(*source);
  field_cursor fields(reader, "  0\t 18446744073709551615  007 ");
  EXPECT_EQ(fields.number("n"), 0u);
  EXPECT_EQ(fields.number("n"), ~std::uint64_t{0});
  EXPECT_FALSE(fields.at_end());
  EXPECT_EQ(fields.number("n"), 7u);
  EXPECT_TRUE(fields.at_end());
  fields.expect_end("all");
}

TEST_F(Fields, NumbersThatAreNone) {
  EXPECT_EQ(number_refusal(""), "f:1: n is missing");
  EXPECT_EQ(number_refusal("abc"), "f:1: n is not a whole number: 'abc'");
  EXPECT_EQ(number_refusal("12x"), "f:1: n is not a whole number: '12x'");
  EXPECT_EQ(number_refusal("1.5 2"), "f:1: n is not a whole number: '1.5'");
  EXPECT_EQ(number_refusal("-1 2"), "f:1: n is negative: '-1'");
  EXPECT_EQ(number_refusal("-"), "f:1: n is not a whole number: '-'");
  EXPECT_EQ(number_refusal("18446744073709551616"), "f:1: n does not fit in 64 bits: '18446744073709551616'");
  EXPECT_EQ(number_refusal(std::string(100, '9')), "f:1: n does not fit in 64 bits: '" + std::string(40, '9') + "...'");
  EXPECT_EQ(number_refusal(std::string_view("1\0002", 3)), "f:1: n is not a whole number: '1\\x002'");
}

TEST_F(Fields, Values) {
  const auto source = open_byte_source("x\n", "f");
  line_reader reader(*source);
  field_cursor fields(reader, "+1 -9223372036854775808 +1.5e3 -2 1e999 nan");
  fields.integer_value("v");
  fields.integer_value("v");
  for (int i = 0; i < 4; ++i) fields.real_value("v");
  EXPECT_TRUE(fields.at_end());
  const auto integer = [](field_cursor& f) { f.integer_value("v"); };
  EXPECT_EQ(field_refusal("9223372036854775808", integer), "f:1: v does not fit in 64 bits: '9223372036854775808'");
  EXPECT_EQ(field_refusal("1.5", integer), "f:1: v is not an integer: '1.5'");
  EXPECT_EQ(field_refusal("+-1", integer), "f:1: v is not an integer: '+-1'");
  EXPECT_EQ(field_refusal("1.5.5", [](field_cursor& f) { f.real_value("v"); }), "f:1: v is not a number: '1.5.5'");
  EXPECT_EQ(field_refusal("x y", [](field_cursor& f) { f.expect_end("it"); }), "f:1: 'x y' follows it; nothing should");
}

TEST(InQuotes, EscapesAndCuts) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes("\x1b[31m\n"), "'\\x1b[31m\\x0a'");
  EXPECT_EQ(in_quotes(std::string(41, 'a')), "'" + std::string(40, 'a') + "...'");
}

}  // namespace
}  // namespace shoal::graph
