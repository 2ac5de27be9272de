// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "graph/matrix_market.hpp"
#include "graph/reader.hpp"
#include "machine/file.hpp"
#include "shoal/blocking.hpp"
#include "shoal/detail/graph_edges.hpp"
#include "shoal/detail/graph_file.hpp"
#include "shoal/error.hpp"

namespace shoal::detail {
namespace {

constexpr std::size_t k_head_bytes = std::size_t{1} << 16;
constexpr std::size_t k_block_bytes = std::size_t{1} << 18;
constexpr std::size_t k_longest_line = 64;  // two numbers of 20 digits
constexpr std::size_t k_edges_in_block = 1024;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (failed || !std::filesystem::is_regular_file(status)) return 0;
  const auto bytes = std::filesystem::file_size(path, failed);
  return failed ? 0 : bytes;
}

/// The first bytes; none if there are not so many, or if the file cannot be read.
std::vector<char> begin_of(const std::string& path, std::uint64_t bytes) {
  if (bytes == 0) return {};
  std::vector<char> begin(bytes);
  try {
    const machine::file in(path, machine::file::purpose::read);
    if (in.read_at(std::as_writable_bytes(std::span(begin)), 0) != bytes) return {};
  } catch (const error&) {
    return {};
  }
  return begin;
}

/// A number of at most 18 digits, or false; `at` moves behind it.
bool take_number(const char*& at, const char* end, std::uint64_t& number) noexcept {
  const char* const begin = at;
  number = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<std::uint64_t>(*at - '0');
  return at > begin && at - begin <= 18;
}

enum class line_kind : std::uint8_t { edge, empty, other };

line_kind parse(const char* at, const char* end, graph::edge& e) noexcept {
  const auto skip = [&] {
    while (at < end && is_blank(*at)) ++at;
  };
  if (end > at && end[-1] == '\r') --end;
  skip();
  if (at == end) return line_kind::empty;
  if (!take_number(at, end, e.from) || at == end || !is_blank(*at)) return line_kind::other;
  skip();
  if (!take_number(at, end, e.to)) return line_kind::other;
  skip();
  return at == end ? line_kind::edge : line_kind::other;
}

/// The edges of the lines in a part, in blocks.
class part_reader {
public:
  part_reader(const std::string& path, const text_extent& all, const text_extent& part, const graph::edge_sink& sink)
      : all_(all), part_(part), sink_(sink), block_(k_block_bytes + k_longest_line) {
    blocking([&] { found_.plain = open(path); });
    edges_.reserve(k_edges_in_block);
  }

  text_counts read() {
    if (part_.begin >= part_.end || !found_.plain) return found_;
    at_ = part_.begin;
    // A line that began before belongs to the part before.
    if (at_ > all_.begin) --at_;
    skipping_ = part_.begin > all_.begin;
    while (found_.plain && at_ < part_.end && fill()) {
    }
    give();
    return found_;
  }

private:
  bool open(const std::string& path) {
    if (size_of(path) != all_.end) return false;
    try {
      in_ = machine::file(path, machine::file::purpose::read);
    } catch (const error&) {
      return false;
    }
    return true;
  }

  bool read_block(std::span<char> to) {
    std::size_t got = 0;
    blocking([&] { got = in_.read_at(std::as_writable_bytes(to), at_); });
    return got == to.size();
  }

  text_counts refuse() noexcept {
    found_.plain = false;
    return found_;
  }

  /// Reads a block and takes its whole lines; what is left of the last one is read again.
  bool fill() {
    const auto want = std::min<std::uint64_t>(block_.size(), all_.end - at_);
    if (!read_block(std::span(block_).first(want))) return refuse().plain;
    const char* const begin = block_.data();
    const char* const end = begin + want;
    const char* line = begin;
    while (line < end && at_ + static_cast<std::uint64_t>(line - begin) < part_.end) {
      const auto* stop = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end - line)));
      const bool whole = stop != nullptr;
      if (!whole) {
        if (at_ + want < all_.end) break;  // goes on in the next block
        stop = end;
        found_.ended = false;
      }
      if (!std::exchange(skipping_, false) && !take(line, stop)) return refuse().plain;
      line = whole ? stop + 1 : end;
    }
    if (line == begin) return refuse().plain;  // no line is so long
    at_ += static_cast<std::uint64_t>(line - begin);
    return true;
  }

  bool take(const char* begin, const char* end) {
    graph::edge e;
    switch (parse(begin, end, e)) {
      case line_kind::empty: return true;
      case line_kind::other: return false;
      case line_kind::edge: break;
    }
    const std::uint64_t larger = std::max(e.from, e.to);
    if (larger >= graph::k_most_vertices) return false;
    found_.vertices = std::max(found_.vertices, larger + 1);
    ++found_.edges;
    edges_.push_back(e);
    if (edges_.size() == k_edges_in_block) give();
    return true;
  }

  void give() {
    if (!edges_.empty()) sink_(edges_);
    edges_.clear();
  }

  machine::file in_;
  text_extent all_;
  text_extent part_;
  const graph::edge_sink& sink_;
  std::vector<char> block_;
  std::vector<graph::edge> edges_;
  std::uint64_t at_ = 0;  // of the block's first byte in the file
  bool skipping_ = false;
  text_counts found_;
};

}  // namespace

text_counts text_counts::combine(const text_counts& other) const noexcept {
  return {plain && other.plain, ended && other.ended, edges + other.edges, std::max(vertices, other.vertices)};
}

std::optional<text_extent> find_text_edges(const std::string& path, const graph::read_options& options) {
  if (options.compact_ids || options.memory_limit_bytes != 0) return std::nullopt;
  std::uint64_t bytes = 0;
  std::vector<char> room;
  blocking([&] {
    bytes = size_of(path);
    room = begin_of(path, std::min<std::uint64_t>(bytes, k_head_bytes));
  });
  if (room.empty()) return std::nullopt;
  const std::string_view head(room.data(), room.size());
  if (head.starts_with(graph::k_matrix_market_magic)) return std::nullopt;
  if (path.ends_with(".mtx") || path.ends_with(".mm") || path.ends_with(".shoalcsr")) return std::nullopt;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t stop = head.find('\n', at);
    if (stop == std::string_view::npos) return std::nullopt;
    const std::string_view line = head.substr(at, stop - at);
    const bool comment = line.starts_with('#') || line.starts_with('%');
    if (!comment && !line.empty()) return text_extent{at, bytes};
    if (line.find("shoal") != std::string_view::npos) return std::nullopt;
    at = stop + 1;
  }
  return std::nullopt;
}

text_counts read_text_part(const std::string& path, const text_extent& all, const text_extent& part,
                           const graph::edge_sink& sink) {
  return part_reader(path, all, part, sink).read();
}

void refuse_width(std::uint64_t vertices, std::size_t id_bytes) {
  throw error(errc::invalid_argument,
              fmt::format("a graph of {} vertices does not fit in numbers of {} bits; use global_graph<std::uint64_t>",
                          vertices, id_bytes * 8));
}

void refuse_edge(std::uint64_t from, std::uint64_t to, std::uint64_t vertices) {
  throw error(errc::bad_input,
              fmt::format("edge {} - {} is out of range: there are {} vertices, from 0", from, to, vertices));
}

void refuse_weight(const std::string& path, std::uint64_t from, std::uint64_t to) {
  throw error(errc::bad_input,
              fmt::format("{}: the weight of edge {} - {} is not a number (nan); give it a number, or read the graph "
                          "without weights",
                          path, from, to));
}

}  // namespace shoal::detail
