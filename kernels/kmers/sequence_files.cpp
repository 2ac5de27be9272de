// SPDX-License-Identifier: Apache-2.0
#include "kernels/kmers/sequence_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "graph/byte_source.hpp"
#include "graph/input_error.hpp"
#include "kernels/kmers/kmer.hpp"
#include "kernels/kmers/sequence_parser.hpp"
#include "shoal/error.hpp"

namespace shoal::kernels::kmers {
namespace {

constexpr std::size_t k_block_bytes = std::size_t{1} << 18;

/// A plain file, read from any place on.
class plain_text {
public:
  explicit plain_text(const std::string& path) : path_(path), in_(path, std::ios::binary), block_(k_block_bytes) {}

  void seek(std::uint64_t at) {
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(at));
  }
  /// The next bytes, at most so many; empty at the end.
  std::string_view next(std::uint64_t most = ~std::uint64_t{0}) {
    const auto want = static_cast<std::streamsize>(std::min<std::uint64_t>(block_.size(), most));
    in_.read(block_.data(), want);
    if (in_.bad() || (in_.fail() && !in_.eof())) graph::refuse(path_, "the file cannot be read");
    return {block_.data(), static_cast<std::size_t>(in_.gcount())};
  }
  /// The next line, its end removed; false at the end.
  bool line(std::string& text) { return static_cast<bool>(std::getline(in_, text)); }

private:
  const std::string& path_;
  std::ifstream in_;
  std::vector<char> block_;
};

text_format format_of(plain_text& text) {
  text.seek(0);
  for (std::string_view block = text.next(); !block.empty(); block = text.next())
    for (const char c : block)
      if (c != '\n' && c != '\r') return c == '@' ? text_format::fastq : text_format::fasta;
  return text_format::unknown;
}

/// Where the first line begins at or behind `at`; of FASTQ, the first record.
std::uint64_t first_begin(plain_text& text, text_format format, std::uint64_t at, std::uint64_t size) {
  if (at == 0) return 0;
  if (at >= size) return size;
  text.seek(--at);
  for (bool found = false; !found;) {
    const std::string_view block = text.next();
    if (block.empty()) return size;
    const std::size_t end = block.find('\n');
    found = end != std::string_view::npos;
    at += found ? end + 1 : block.size();
  }
  if (format != text_format::fastq) return at;
  // A title is the line that begins with '@' and has, two lines on, one that begins with '+'. A quality may begin with
  // '@', too, but two lines on is a sequence.
  text.seek(at);
  std::array<std::uint64_t, 3> begins{};
  std::array<char, 3> heads{};
  std::string line;
  for (unsigned n = 0; text.line(line); ++n) {
    begins[n % 3] = at;
    heads[n % 3] = line.empty() ? '\0' : line.front();
    at += line.size() + 1;
    if (n >= 2 && heads[(n + 1) % 3] == '@' && heads[n % 3] == '+') return begins[(n + 1) % 3];
  }
  return size;
}

void read_plain(const std::string& path, const text_part& part, std::uint64_t size, unsigned k,
                std::vector<std::uint8_t>& bases) {
  plain_text text(path);
  const text_format format = format_of(text);
  std::uint64_t at = first_begin(text, format, part.begin, size);
  const std::uint64_t end = first_begin(text, format, part.end, size);
  if (at >= end) return;
  sequence_parser parser(path, format);
  text.seek(at);
  while (at < end) {
    const std::string_view block = text.next(end - at);
    if (block.empty()) break;
    parser.take(block, bases);
    at += block.size();
  }
  if (format == text_format::fasta) {
    for (std::size_t most = k - 1; most > 0;) {
      const std::string_view block = text.next(k_block_bytes / 16);
      const std::size_t before = bases.size();
      if (block.empty() || !parser.take_rest(block, most, bases)) break;
      most -= bases.size() - before;
    }
  }
  parser.end(bases);
}

}  // namespace

std::vector<text_part> parts_of(const std::vector<std::string>& paths, std::uint64_t wanted,
                                std::uint64_t least_bytes) {
  std::vector<text_part> parts;
  for (std::uint32_t file = 0; file < paths.size(); ++file) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(paths[file], ignored) && std::filesystem::is_empty(paths[file], ignored))
      graph::refuse(paths[file], "there is no sequence, the file is empty; give files of FASTA or FASTQ");
    // Says what is wrong with a file that cannot be opened.
    const std::uint64_t bytes = graph::open_byte_source(paths[file])->size_bytes();
    const std::uint64_t count = std::min(wanted, bytes / std::max<std::uint64_t>(least_bytes, 1));
    if (count < 2) {
      parts.push_back({.file = file});
      continue;
    }
    for (std::uint64_t i = 0; i < count; ++i)
      parts.push_back({file, false, bytes / count * i, i + 1 == count ? bytes : bytes / count * (i + 1)});
  }
  return parts;
}

void read_file(const std::string& path, std::vector<std::uint8_t>& bases) {
  const auto from = graph::open_byte_source(path);
  sequence_parser parser(path);
  std::vector<std::byte> block(k_block_bytes);
  while (const std::size_t bytes = from->read(block))
    parser.take({reinterpret_cast<const char*>(block.data()), bytes}, bases);
  parser.end(bases);
}

void read_part(const std::string& path, const text_part& part, unsigned k, std::vector<std::uint8_t>& bases) {
  if (part.whole) return read_file(path, bases);
  try {
    const std::uint64_t size = graph::open_byte_source(path)->size_bytes();
    read_plain(path, part, size, k, bases);
  } catch (const error&) {
    std::vector<std::uint8_t> ignored;
    read_file(path, ignored);  // finds it again, and its line
    throw;
  }
}

}  // namespace shoal::kernels::kmers
