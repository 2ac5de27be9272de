// SPDX-License-Identifier: Apache-2.0
#include "graph/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "graph/input_error.hpp"
#include "graph/line_reader.hpp"
#include "graph/reader.hpp"

namespace shoal::graph {
namespace {

enum class value_kind { none, real, integer, complex };

struct banner {
  value_kind values = value_kind::none;
  bool symmetric = false;  // in any of the three ways: each undirected edge is stored once
  bool no_diagonal = false;
};

std::string lowered(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

banner read_banner(line_reader& lines) {
  std::string_view line;
  if (!lines.next(line)) refuse(lines.name(), "is empty; give another file");
  field_cursor fields(lines, line);
  if (fields.word("the banner") != k_matrix_market_magic) {
    lines.refuse(fmt::format("the first word must be {}", k_matrix_market_magic));
  }
  const std::string object = lowered(fields.word("the object (matrix)"));
  if (object != "matrix") lines.refuse(fmt::format("the object {} is not known; it must be matrix", in_quotes(object)));
  const std::string format = lowered(fields.word("the format (coordinate)"));
  if (format == "array") lines.refuse("the matrix is dense (array); a graph needs the coordinate format");
  if (format != "coordinate")
    lines.refuse(fmt::format("the format {} is not known; it must be coordinate", in_quotes(format)));
  const std::string field = lowered(fields.word("the field (pattern, real, integer or complex)"));
  const std::string symmetry = lowered(fields.word("the symmetry (general, symmetric, skew-symmetric or hermitian)"));
  fields.expect_end("the banner");

  banner result;
  if (field == "real" || field == "double") {
    result.values = value_kind::real;
  } else if (field == "integer") {
    result.values = value_kind::integer;
  } else if (field == "complex") {
    result.values = value_kind::complex;
  } else if (field != "pattern") {
    lines.refuse(
        fmt::format("the field {} is not known; it must be pattern, real, integer or complex", in_quotes(field)));
  }
  if (symmetry == "skew-symmetric") {
    if (field == "pattern") lines.refuse("a pattern cannot be skew-symmetric");
    result.symmetric = result.no_diagonal = true;
  } else if (symmetry == "hermitian") {
    if (field != "complex") lines.refuse("only a complex matrix can be hermitian");
    result.symmetric = true;
  } else if (symmetry == "symmetric") {
    result.symmetric = true;
  } else if (symmetry != "general") {
    lines.refuse(fmt::format("the symmetry {} is not known; it must be general, symmetric, skew-symmetric or hermitian",
                             in_quotes(symmetry)));
  }
  return result;
}

/// Stores the next line that is neither empty nor a comment; false at the end.
bool next_content(line_reader& lines, std::string_view& line) {
  while (lines.next(line)) {
    if (!line.starts_with('%') && line.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
  return false;
}

/// The minimum number of bytes of an entry, to reject files that announce more entries than they can contain. The last
/// entry needs no line end.
constexpr std::uint64_t fewest_bytes(value_kind values) {
  switch (values) {
    case value_kind::none: return 4;  // "1 1\n"
    case value_kind::complex: return 8;
    default: return 6;
  }
}

}  // namespace

graph_header stream_matrix_market(byte_source& from, const read_options& options, const edge_sink& sink) {
  line_reader lines(from);
  const banner kind = read_banner(lines);
  std::string_view line;
  if (!next_content(lines, line))
    refuse(lines.name(), "is truncated: the line with rows, columns and entries is missing");

  field_cursor sizes(lines, line);
  const std::uint64_t rows = sizes.number("the number of rows");
  const std::uint64_t columns = sizes.number("the number of columns");
  const std::uint64_t entries = sizes.number("the number of entries");
  sizes.expect_end("the sizes");
  if (rows != columns) lines.refuse(fmt::format("the matrix is {} x {}; a graph needs a square one", rows, columns));
  if (entries > 0 && from.size_bytes() > 0 && entries > (from.size_bytes() + 1) / fewest_bytes(kind.values)) {
    lines.refuse(fmt::format(
        "{} entries are announced; a file of {} bytes cannot hold them: it is truncated or the size is wrong", entries,
        from.size_bytes()));
  }
  if (rows < (std::uint64_t{1} << 32) && entries > rows * rows) {
    lines.refuse(
        fmt::format("{} entries are announced; a matrix of {} x {} has no room for them", entries, rows, columns));
  }
  if (options.weights && kind.values == value_kind::complex)
    lines.refuse("the values are complex; weights of edges must be real or integer");
  check_sizes(fmt::format("{}:{}", lines.name(), lines.number()), rows, entries, options);

  edge_block block(sink);
  while (block.count() < entries) {
    if (!next_content(lines, line)) {
      refuse(lines.name(),
             fmt::format("is truncated: {} entries are announced, it ends after {}", entries, block.count()));
    }
    field_cursor fields(lines, line);
    const std::uint64_t row = fields.number("the row");
    const std::uint64_t column = fields.number("the column");
    const std::uint64_t worse = row == 0 || row > rows ? row : column;
    if (worse == 0 || worse > rows) {
      lines.refuse(rows == 0 ? fmt::format("vertex {} is out of range: the matrix is empty", worse)
                             : fmt::format("vertex {} is out of range: the header allows 1 to {}", worse, rows));
    }
    if (kind.no_diagonal && row == column) lines.refuse("a skew-symmetric matrix has no entries on its diagonal");
    double weight = 1;
    switch (kind.values) {
      case value_kind::none: break;
      case value_kind::integer: weight = fields.integer_value("the value"); break;
      case value_kind::complex: fields.real_value("the real part"); [[fallthrough]];
      case value_kind::real: weight = fields.real_value("the value"); break;
    }
    fields.expect_end("the entry");
    if (options.weights) options.weights(weight);
    block.add({row - 1, column - 1});
  }
  // The last entry of a file that was truncated within a number looks complete; only the missing line end shows it.
  const bool cut = entries > 0 && !lines.ended();
  if (next_content(lines, line)) {
    lines.refuse(fmt::format("{} follows the {} entries that are announced; nothing should", in_quotes(line), entries));
  }
  block.finish();
  graph_header header{.vertices = rows,
                      .edges = entries,
                      .directed = !kind.symmetric,
                      .weighted = kind.values == value_kind::real || kind.values == value_kind::integer,
                      .names = {},
                      .remarks = {}};
  if (cut)
    header.remarks.push_back(fmt::format("{}: the last line has no end; the file may be truncated", lines.name()));
  return header;
}

}  // namespace shoal::graph
