// SPDX-License-Identifier: Apache-2.0
#include "graph/line_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>

#include "graph/input_error.hpp"

namespace shoal::graph {
namespace {

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

}  // namespace

bool line_reader::refill() {
  if (begin_ > 0) {
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t got = from_.read(std::as_writable_bytes(std::span{block_}.subspan(end_)));
  end_ += got;
  return got > 0;
}

bool line_reader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes that were searched and contain no line end
  const char* end = nullptr;
  for (;;) {
    const char* const from = block_.data() + begin_;
    const std::size_t there = end_ - begin_;
    end = searched < there ? static_cast<const char*>(std::memchr(from + searched, '\n', there - searched)) : nullptr;
    const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - from) : there;
    if (length > k_longest_line_bytes) {
      ++number_;
      refuse(fmt::format("the line is longer than {} bytes; this is not a text with one edge per line",
                         k_longest_line_bytes));
    }
    if (end != nullptr) break;
    searched = there;
    if (!refill()) break;
  }
  if (end == nullptr && begin_ == end_) return false;
  const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - (block_.data() + begin_)) : end_ - begin_;
  line = std::string_view{block_.data() + begin_, length};
  begin_ += length + (end != nullptr ? 1 : 0);
  ended_ = end != nullptr;
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void line_reader::refuse(std::string_view reason) const { graph::refuse(name(), number_, reason); }

std::string_view field_cursor::word(std::string_view what) {
  if (rest_.empty()) reader_.refuse(fmt::format("{} is missing", what));
  std::size_t length = 0;
  while (length < rest_.size() && rest_[length] != ' ' && rest_[length] != '\t') ++length;
  const std::string_view result = rest_.substr(0, length);
  rest_.remove_prefix(length);
  skip_blanks();
  return result;
}

std::uint64_t field_cursor::number(std::string_view what) {
  // Fast path for the common case: digits, then a blank or the end.
  std::uint64_t value = 0;
  const char* const begin = rest_.data();
  const char* const end = begin + rest_.size();
  const auto [after, code] = std::from_chars(begin, end, value);
  if (code == std::errc{} && (after == end || *after == ' ' || *after == '\t')) {
    rest_.remove_prefix(static_cast<std::size_t>(after - begin));
    skip_blanks();
    return value;
  }
  const std::string_view text = word(what);
  refuse_number(text, what, all_digits(text));
}

double field_cursor::integer_value(std::string_view what) {
  const std::string_view text = word(what);
  const std::string_view digits = without_plus(text);
  std::int64_t value = 0;
  const auto [after, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc{} && after == digits.data() + digits.size()) return static_cast<double>(value);
  if (code == std::errc::result_out_of_range) refuse_number(text, what, true);
  reader_.refuse(fmt::format("{} is not an integer: {}", what, in_quotes(text)));
}

double field_cursor::real_value(std::string_view what) {
  const std::string_view text = word(what);
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [after, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = after == digits.data() + digits.size();
  if (whole && code == std::errc{}) return value;
  // A value outside the range of double (1e400) is still a number.
  if (whole && code == std::errc::result_out_of_range) return std::strtod(std::string(digits).c_str(), nullptr);
  reader_.refuse(fmt::format("{} is not a number: {}", what, in_quotes(text)));
}

void field_cursor::expect_end(std::string_view after) const {
  if (!rest_.empty()) reader_.refuse(fmt::format("{} follows {}; nothing should", in_quotes(rest_), after));
}

void field_cursor::refuse_number(std::string_view text, std::string_view what, bool overflow) const {
  if (overflow) reader_.refuse(fmt::format("{} does not fit in 64 bits: {}", what, in_quotes(text)));
  if (text.size() > 1 && text[0] == '-' && all_digits(text.substr(1))) {
    reader_.refuse(fmt::format("{} is negative: {}", what, in_quotes(text)));
  }
  reader_.refuse(fmt::format("{} is not a whole number: {}", what, in_quotes(text)));
}

}  // namespace shoal::graph
