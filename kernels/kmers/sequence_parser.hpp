// SPDX-License-Identifier: Apache-2.0
// The bases in a text of FASTA or FASTQ, which is given in blocks of any size. The first letter of the text decides:
// '>' or ';' FASTA, '@' FASTQ.
// Bases: A, C, G, T and U (as T), also in small letters. Other letters, '-', '*' and '.' stand for a base that is not
// known: a break. So does the end of a sequence. Lines may end with "\r\n"; blanks do not count.
// FASTQ: records of four lines. A sequence and its quality must be equally long.
// Who may call: one thread at a time; never switches tasks. Memory: none but the result's.
// Errors: shoal::error (bad_input) "file:line: reason and what to do".
// Tests: tests/unit/kernels/kmers_test.cpp, tests/fuzz/sequence_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::kernels::kmers {

enum class text_format : std::uint8_t { unknown, fasta, fastq };

class sequence_parser {
public:
  /// `name`: of the file, for messages. `format`: of a part from within a file, which begins with a line, or a record.
  explicit sequence_parser(std::string name, text_format format = text_format::unknown)
      : name_(std::move(name)), format_(format) {}

  /// Appends the bases of the next block.
  void take(std::string_view block, std::vector<std::uint8_t>& bases);
  /// The text ends here, or the part.
  void end(std::vector<std::uint8_t>& bases);
  /// Of FASTA, goes on behind a part: at most `most` bases, to the end of the sequence at the latest. False: no more.
  bool take_rest(std::string_view block, std::size_t most, std::vector<std::uint8_t>& bases);

  text_format format() const noexcept { return format_; }

private:
  // What the next character belongs to.
  enum class place : std::uint8_t { line_begin, title, sequence, plus, quality };

  void begin_text(std::string_view& block);
  const char* take_fasta(const char* at, const char* end, std::vector<std::uint8_t>& bases);
  const char* take_fastq(const char* at, const char* end, std::vector<std::uint8_t>& bases);
  const char* take_bases(const char* at, const char* end, std::vector<std::uint8_t>& bases);
  void end_quality(std::vector<std::uint8_t>& bases);
  [[noreturn]] void refuse(std::string_view reason) const;
  [[noreturn]] void refuse_letter(char c) const;

  std::string name_;
  text_format format_;
  place place_ = place::line_begin;
  place line_ = place::title;         // FASTQ: what the line that begins next is
  std::uint64_t number_ = 1;          // of the line
  std::uint64_t sequence_bytes_ = 0;  // FASTQ: of this record
  std::uint64_t quality_bytes_ = 0;
};

}  // namespace shoal::kernels::kmers
