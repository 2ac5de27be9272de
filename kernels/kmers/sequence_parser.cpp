// SPDX-License-Identifier: Apache-2.0
#include "kernels/kmers/sequence_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "graph/input_error.hpp"
#include "kernels/kmers/kmer.hpp"

namespace shoal::kernels::kmers {
namespace {

// What a character of a sequence is, beside the bases' codes and k_break.
constexpr std::uint8_t k_blank = 5;
constexpr std::uint8_t k_line_end = 6;
constexpr std::uint8_t k_no_base = 7;

constexpr std::array<std::uint8_t, 256> k_codes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(k_no_base);
  for (unsigned c = 'A'; c <= 'Z'; ++c) codes[c] = codes[c + 'a' - 'A'] = k_break;
  for (const char c : {'-', '*', '.'}) codes[static_cast<unsigned char>(c)] = k_break;
  for (const char c : {' ', '\t', '\r'}) codes[static_cast<unsigned char>(c)] = k_blank;
  codes['\n'] = k_line_end;
  for (unsigned i = 0; i < 4; ++i) codes["ACGT"[i]] = codes["acgt"[i]] = static_cast<std::uint8_t>(i);
  codes['U'] = codes['u'] = 3;
  return codes;
}();

const char* line_end(const char* at, const char* end) noexcept {
  const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

void add_break(std::vector<std::uint8_t>& bases) {
  if (!bases.empty() && bases.back() != k_break) bases.push_back(k_break);
}

}  // namespace

void sequence_parser::refuse(std::string_view reason) const { graph::refuse(name_, number_, reason); }

void sequence_parser::refuse_letter(char c) const {
  refuse(fmt::format("{} is no base: a sequence has letters, and '-', '*' or '.' where a base is not known{}",
                     graph::in_quotes(std::string_view(&c, 1)),
                     c == '>' || c == '@' ? "; is the end of the line before this one missing?" : ""));
}

// Empty lines may come first.
void sequence_parser::begin_text(std::string_view& block) {
  while (!block.empty() && (block.front() == '\n' || block.front() == '\r')) {
    number_ += block.front() == '\n' ? 1 : 0;
    block.remove_prefix(1);
  }
  if (block.empty()) return;
  switch (block.front()) {
    case '>':
    case ';': format_ = text_format::fasta; break;
    case '@': format_ = text_format::fastq; break;
    default:
      refuse(
          fmt::format("the text begins with {}, so it is neither FASTA (which begins with '>') nor FASTQ ('@'); "
                      "give files of sequences, plain or compressed by gzip or zstd",
                      graph::in_quotes(block.substr(0, 1))));
  }
}

void sequence_parser::take(std::string_view block, std::vector<std::uint8_t>& bases) {
  if (format_ == text_format::unknown) begin_text(block);
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at < end) at = format_ == text_format::fasta ? take_fasta(at, end, bases) : take_fastq(at, end, bases);
}

// To the end of the line, or to what is no part of a sequence.
const char* sequence_parser::take_bases(const char* at, const char* end, std::vector<std::uint8_t>& bases) {
  const std::size_t before = bases.size();
  bases.resize(before + static_cast<std::size_t>(end - at));
  std::uint8_t* to = bases.data() + before;
  for (; at < end; ++at) {
    const std::uint8_t code = k_codes[static_cast<unsigned char>(*at)];
    if (code <= k_break) [[likely]]
      *to++ = code;
    else if (code != k_blank)
      break;
  }
  bases.resize(static_cast<std::size_t>(to - bases.data()));
  return at;
}

const char* sequence_parser::take_fasta(const char* at, const char* end, std::vector<std::uint8_t>& bases) {
  if (place_ == place::line_begin) {
    const bool is_title = *at == '>' || *at == ';';
    if (is_title) add_break(bases);
    place_ = is_title ? place::title : place::sequence;
  }
  if (place_ == place::title) {
    at = line_end(at, end);
  } else {
    // Line by line, so that the room that take_bases() makes is not that of all the block again and again.
    const char* const stop = line_end(at, end);
    at = take_bases(at, stop, bases);
    if (at < stop) refuse_letter(*at);
  }
  if (at == end) return at;
  place_ = place::line_begin;
  ++number_;
  return at + 1;
}

bool sequence_parser::take_rest(std::string_view block, std::size_t most, std::vector<std::uint8_t>& bases) {
  const std::size_t before = bases.size();
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at < end && bases.size() - before < most) {
    if (place_ == place::line_begin && (*at == '>' || *at == ';')) return false;
    at = take_fasta(at, end, bases);
  }
  if (bases.size() - before < most) return true;
  bases.resize(before + most);
  return false;
}

const char* sequence_parser::take_fastq(const char* at, const char* end, std::vector<std::uint8_t>& bases) {
  if (place_ == place::line_begin) {
    if (line_ == place::title) {
      if (*at == '\n' || *at == '\r') {  // between records, or at the end
        number_ += *at == '\n' ? 1 : 0;
        return at + 1;
      }
      if (*at != '@')
        refuse(
            fmt::format("a record begins with '@', but this line with {}: FASTQ has four lines for each record, "
                        "title, sequence, '+' and quality",
                        graph::in_quotes(std::string_view(at, 1))));
      sequence_bytes_ = quality_bytes_ = 0;
    } else if (line_ == place::plus && *at != '+') {
      refuse(
          fmt::format("the line behind a sequence begins with '+', but this one with {}: FASTQ has four lines for "
                      "each record; sequences over several lines are for FASTA",
                      graph::in_quotes(std::string_view(at, 1))));
    }
    place_ = line_;
  }
  const char* const stop = line_end(at, end);
  if (place_ == place::sequence) {
    const std::size_t before = bases.size();
    at = take_bases(at, stop, bases);
    sequence_bytes_ += bases.size() - before;
    if (at < stop) refuse_letter(*at);
  } else if (place_ == place::quality) {
    quality_bytes_ += static_cast<std::uint64_t>(stop - at - std::count(at, stop, '\r'));
  }
  if (stop == end) return end;
  switch (place_) {
    case place::title: line_ = place::sequence; break;
    case place::sequence: line_ = place::plus; break;
    case place::plus: line_ = place::quality; break;
    default: end_quality(bases);
  }
  place_ = place::line_begin;
  ++number_;
  return stop + 1;
}

void sequence_parser::end_quality(std::vector<std::uint8_t>& bases) {
  if (sequence_bytes_ != quality_bytes_)
    refuse(
        fmt::format("the quality has {} characters, but its sequence {} bases: the record is damaged; fetch the file "
                    "again, or remove the record",
                    quality_bytes_, sequence_bytes_));
  add_break(bases);
  line_ = place::title;
}

void sequence_parser::end(std::vector<std::uint8_t>& bases) {
  if (format_ == text_format::unknown)
    graph::refuse(name_, "there is no sequence, the file is empty; give files of FASTA or FASTQ");
  if (format_ == text_format::fastq && (place_ != place::line_begin || line_ != place::title)) {
    if (line_ == place::quality && place_ == place::quality)
      end_quality(bases);  // the last line has no end
    else if (!(line_ == place::quality && sequence_bytes_ == 0))
      refuse("the file ends within a record: it is cut off; fetch it again");
  }
  add_break(bases);
}

}  // namespace shoal::kernels::kmers
