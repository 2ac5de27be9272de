// SPDX-License-Identifier: Apache-2.0
// Edge lists: one edge per line, "from to", numbers from 0, separated by blanks or tabs. Up to two more numbers
// (weight, time) are checked; the first is the weight, for who asks for it. Lines that begin with # or % are comments. Some comments have a meaning:
//   # Directed graph ... / # Undirected graph ... / # Nodes: N Edges: M             as written by SNAP
//   # shoal graph directed|undirected vertices V edges E                            binding: V and E are checked
//   # shoal names                                                                   then V lines "# NAME", for 0 to V-1
// Declared in reader.hpp as stream_edge_text. Test: tests/unit/graph/edge_text_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "graph/input_error.hpp"
#include "graph/line_reader.hpp"
#include "graph/reader.hpp"
#include "shoal/detail/graph_file.hpp"

namespace shoal::graph {
namespace {

constexpr std::uint64_t k_sparse_factor = 64;  // ids are rejected if there are more of them per end of an edge
constexpr std::uint64_t k_sparse_floor = std::uint64_t{1} << 20;
constexpr int k_extra_columns = 2;

class edge_text_reader {
public:
  edge_text_reader(byte_source& from, const read_options& options, const edge_sink& sink)
      : from_(from), options_(options), lines_(from), block_(sink) {
    header_.directed = options.directed;
  }

  graph_header read() {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.starts_with('#') || line.starts_with('%')) {
        comment(line);
      } else if (field_cursor fields(lines_, line); !fields.at_end()) {
        edge_line(fields);
      }
    }
    finish(block_.count(), lines_.ended());
    return std::move(header_);
  }

  /// Only the lines before the first edge; the counts of the edges are known.
  graph_header read_head(const detail::text_counts& counts) {
    std::string_view line;
    while (lines_.next(line) && (line.empty() || line.front() == '#' || line.front() == '%')) {
      if (!line.empty()) comment(line);
    }
    header_.vertices = counts.vertices;
    finish(counts.edges, counts.ended);
    return std::move(header_);
  }

private:
  void comment(std::string_view line) {
    field_cursor fields(lines_, line.substr(1));
    if (fields.at_end()) return;
    const std::string_view first = fields.word("");
    const std::string_view second = fields.at_end() ? std::string_view{} : fields.word("");
    const bool graph = second == "graph" || second == "graph:";
    if (first == "shoal" && second == "graph") {
      shoal_header(fields);
    } else if (first == "shoal" && second == "names") {
      names(fields);
    } else if (!exact_ && graph && (first == "Directed" || first == "Directed:")) {
      say_directed(true);
    } else if (!exact_ && graph && (first == "Undirected" || first == "Undirected:")) {
      say_directed(false);
    } else if (first == "Nodes:") {
      snap_counts(second, fields);
    }
  }

  void say_directed(bool directed) {
    header_.directed = directed;
    direction_said_ = true;
  }

  void shoal_header(field_cursor& fields) {
    if (exact_) lines_.refuse("a second header; one is enough");
    if (block_.count() > 0) lines_.refuse("the header comes after edges; it must come first");
    const std::string_view direction = fields.word("the direction (directed or undirected)");
    if (direction != "directed" && direction != "undirected") {
      lines_.refuse(
          fmt::format("the direction {} is not known; it must be directed or undirected", in_quotes(direction)));
    }
    say_directed(direction == "directed");
    expect_word(fields, "vertices");
    header_.vertices = fields.number("the number of vertices");
    expect_word(fields, "edges");
    header_.edges = fields.number("the number of edges");
    fields.expect_end("the header");
    const std::uint64_t most = (from_.size_bytes() + 1) / 4;  // "0 1\n"
    if (from_.size_bytes() > 0 && header_.edges > most) {
      lines_.refuse(fmt::format(
          "{} edges are announced; a file of {} bytes cannot hold them: it is truncated or the number is wrong",
          header_.edges, from_.size_bytes()));
    }
    check_sizes(fmt::format("{}:{}", lines_.name(), lines_.number()), header_.vertices, header_.edges, options_);
    exact_ = true;
  }

  void expect_word(field_cursor& fields, std::string_view wanted) {
    const std::string_view word = fields.word(fmt::format("the word '{}'", wanted));
    if (word != wanted) lines_.refuse(fmt::format("{} stands where '{}' was expected", in_quotes(word), wanted));
  }

  void names(const field_cursor& fields) {
    fields.expect_end("'shoal names'");
    if (!exact_) lines_.refuse("names without a header before them; '# shoal graph ...' must come first");
    if (!header_.names.empty()) lines_.refuse("names a second time; one table is enough");
    const std::uint64_t first_line = lines_.number() + 1;
    std::string_view line;
    while (header_.names.size() < header_.vertices) {
      if (!lines_.next(line)) {
        refuse(lines_.name(), fmt::format("is truncated: {} names are announced, it ends after {}", header_.vertices,
                                          header_.names.size()));
      }
      if (!line.starts_with("# ") || line.size() < 3) {
        lines_.refuse(
            fmt::format("the name of vertex {} is missing; a line '# NAME' was expected", header_.names.size()));
      }
      header_.names.emplace_back(line.substr(2));
    }
    if (const auto twice = equally_named(header_.names)) {
      const auto [first, second] = *twice;
      refuse(lines_.name(), first_line + second,
             fmt::format("the name {} is already that of vertex {}", in_quotes(header_.names[first]), first));
    }
  }

  /// SNAP's counts are not binding, because some of its files count differently. They help to detect a truncated file.
  void snap_counts(std::string_view nodes, field_cursor& fields) {
    std::uint64_t number = 0;
    std::uint64_t edges = 0;
    if (!plain_number(nodes, number) || fields.at_end() || fields.word("") != "Edges:") return;
    if (fields.at_end() || !plain_number(fields.word(""), edges)) return;
    announced_edges_ = edges;
  }

  static bool plain_number(std::string_view text, std::uint64_t& value) {
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    for (const char c : text) value = value * 10 + static_cast<std::uint64_t>(c - '0');
    return true;
  }

  void edge_line(field_cursor& fields) {
    const std::uint64_t from = fields.number("the first vertex");
    const std::uint64_t to = fields.number("the second vertex");
    double weight = 1;
    for (int i = 0; i < k_extra_columns && !fields.at_end(); ++i) {
      const double value = fields.real_value("the value after the edge");
      if (i > 0) continue;
      weight = value;
      header_.weighted = true;
    }
    fields.expect_end("the edge");
    if (options_.weights) options_.weights(weight);
    if (exact_) {
      const std::uint64_t worse = std::max(from, to);
      if (header_.vertices == 0)
        lines_.refuse(fmt::format("vertex {} is out of range: the header says there are none", worse));
      if (worse >= header_.vertices) {
        lines_.refuse(fmt::format("vertex {} is out of range: the header allows 0 to {}", worse, header_.vertices - 1));
      }
      if (block_.count() == header_.edges)
        lines_.refuse(fmt::format("an edge more than the {} announced", header_.edges));
      block_.add({from, to});
    } else if (options_.compact_ids) {
      const std::uint64_t first = vertex_of(from);
      block_.add({first, vertex_of(to)});
    } else {
      const std::uint64_t worse = std::max(from, to);
      if (worse >= k_most_vertices) {
        lines_.refuse(
            fmt::format("vertex {} is too large to be kept as it is; number the ids anew with --compact-ids", worse));
      }
      header_.vertices = std::max(header_.vertices, worse + 1);
      block_.add({from, to});
    }
  }

  std::uint64_t vertex_of(std::uint64_t id) {
    const auto [found, is_new] = vertex_of_id_.try_emplace(id, header_.vertices);
    if (is_new) {
      ++header_.vertices;
      header_.names.push_back(std::to_string(id));
    }
    return found->second;
  }

  void finish(std::uint64_t edges, bool ended) {
    const std::string& file = lines_.name();
    if (exact_ && edges < header_.edges) {
      refuse(file, fmt::format("is truncated: {} edges are announced, it ends after {}", header_.edges, edges));
    }
    if (!exact_ && edges == 0) refuse(file, "contains no edge, only comments and empty lines");
    if (!exact_ && !options_.compact_ids && header_.vertices > k_sparse_floor &&
        header_.vertices / k_sparse_factor > 2 * edges) {
      refuse(file, fmt::format(
                       "the largest vertex is {}, for {} edges; such ids cannot be kept as they are: number them anew "
                       "with --compact-ids",
                       header_.vertices - 1, edges));
    }
    if (announced_edges_ && edges < *announced_edges_ && !ended) {
      refuse(file, fmt::format("is truncated: {} edges are announced, it ends in the middle of a line after {}",
                               *announced_edges_, edges));
    }
    if (announced_edges_ && edges != *announced_edges_) {
      header_.remarks.push_back(
          fmt::format("{}: {} edges are announced, there are {}", file, *announced_edges_, edges));
    } else if (!ended) {
      header_.remarks.push_back(fmt::format("{}: the last line has no end; the file may be truncated", file));
    }
    if (header_.directed && !direction_said_) {
      header_.remarks.push_back(fmt::format(
          "{}: does not declare whether its graph is directed; it is directed because --directed is given, otherwise "
          "each edge would have both directions",
          file));
    }
    check_sizes(file, header_.vertices, edges, options_);
    block_.finish();
    header_.edges = edges;
  }

  byte_source& from_;
  const read_options& options_;
  line_reader lines_;
  edge_block block_;
  graph_header header_;
  bool direction_said_ = false;
  bool exact_ = false;  // the file has Shoal's header
  std::optional<std::uint64_t> announced_edges_;
  std::unordered_map<std::uint64_t, std::uint64_t> vertex_of_id_;
};

}  // namespace

graph_header stream_edge_text(byte_source& from, const read_options& options, const edge_sink& sink) {
  return edge_text_reader(from, options, sink).read();
}

}  // namespace shoal::graph

namespace shoal::detail {

graph::graph_header finish_text(const std::string& path, const graph::read_options& options,
                                const text_counts& counts) {
  const auto from = graph::open_byte_source(path);
  const graph::edge_sink none = [](std::span<const graph::edge>) {};
  return graph::edge_text_reader(*from, options, none).read_head(counts);
}

}  // namespace shoal::detail
