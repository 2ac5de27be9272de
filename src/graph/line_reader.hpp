// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a text from a byte_source, with one block of the text in memory, and the fields of a line. Both
// know their position, so every error names file and line.
// Who may call: one task or thread at a time; waits for the disk as byte_source.
// Guarantees: a line is returned without its end ("\n" or "\r\n"); the last line may lack an end. A line longer than
// k_longest_line_bytes is an error (probably a binary file). A line is valid until the next call.
// Test: tests/unit/graph/line_reader_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/byte_source.hpp"

namespace shoal::graph {

class line_reader {
public:
  static constexpr std::size_t k_longest_line_bytes = std::size_t{1} << 16;

  explicit line_reader(byte_source& from) : from_(from), block_(k_block_bytes) {}

  /// Stores the next line in `line`; false at the end.
  bool next(std::string_view& line);

  /// The number of the last returned line, from 1.
  std::uint64_t number() const noexcept { return number_; }

  /// Whether the last returned line had an end; the last line of a truncated file has none.
  bool ended() const noexcept { return ended_; }

  const std::string& name() const noexcept { return from_.name(); }

  /// Throws bad_input: "file:line: reason", for the last returned line.
  [[noreturn]] void refuse(std::string_view reason) const;

private:
  static constexpr std::size_t k_block_bytes = std::size_t{1} << 18;
  bool refill();

  byte_source& from_;
  std::vector<char> block_;
  std::size_t begin_ = 0;  // [begin_, end_) of block_ has not been returned
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = true;
};

/// The fields of one line, separated by blanks and tabs. `what` names a field in error messages.
class field_cursor {
public:
  field_cursor(const line_reader& reader, std::string_view line) : reader_(reader), rest_(line) { skip_blanks(); }

  bool at_end() const noexcept { return rest_.empty(); }

  std::string_view word(std::string_view what);
  std::uint64_t number(std::string_view what);  // unsigned, 64 bits
  double integer_value(std::string_view what);  // signed, 64 bits
  double real_value(std::string_view what);     // infinite or 0 if it is beyond the range of double

  /// Throws if anything is left.
  void expect_end(std::string_view after) const;

private:
  void skip_blanks() noexcept {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  [[noreturn]] void refuse_number(std::string_view text, std::string_view what, bool overflow) const;

  const line_reader& reader_;
  std::string_view rest_;
};

}  // namespace shoal::graph
