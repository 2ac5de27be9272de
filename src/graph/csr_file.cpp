// SPDX-License-Identifier: Apache-2.0
#include "graph/csr_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "graph/csr_layout.hpp"
#include "graph/input_error.hpp"

namespace shoal::graph {
namespace {

/// Reads checked pieces of the payload and updates the checksum.
class payload_reader {
public:
  explicit payload_reader(byte_source& from) : from_(from) {}

  void bytes(std::span<std::byte> to, std::string_view what) {
    const std::size_t got = read_fully(from_, to);
    if (got < to.size()) refuse(from_.name(), fmt::format("is truncated: it ends in the middle of the {}", what));
    checksum_ = crc(checksum_, to);
  }

  /// `count` numbers in blocks: f(span).
  template <class Number, class F>
  void numbers(std::uint64_t count, std::string_view what, F&& f) {
    std::vector<Number> block(std::min<std::uint64_t>(count, k_block_numbers));
    while (count > 0) {
      const std::span part = std::span{block}.first(std::min<std::uint64_t>(count, block.size()));
      bytes(std::as_writable_bytes(part), what);
      for (Number& number : part) number = little_endian(number);
      f(std::span<const Number>{part});
      count -= part.size();
    }
  }

  void end() {
    const std::uint32_t expected = checksum_;
    std::uint32_t stored = 0;
    bytes(std::as_writable_bytes(std::span{&stored, 1}), "checksum");
    if (little_endian(stored) != expected) {
      refuse(from_.name(), "is corrupt: the checksum does not match what the file holds");
    }
    std::byte more{};
    if (from_.read({&more, 1}) != 0) refuse(from_.name(), "unexpected data follows the end of the graph");
  }

private:
  static constexpr std::size_t k_block_numbers = std::size_t{1} << 15;
  byte_source& from_;
  std::uint32_t checksum_ = 0;
};

csr_layout read_layout(byte_source& from, const read_options& options) {
  std::array<std::byte, csr_layout::k_bytes> raw{};
  if (read_fully(from, raw) < raw.size()) refuse(from.name(), "is truncated: it ends in the middle of the header");
  const csr_layout layout = csr_layout::decode(raw, from.name());
  const std::string sizes =
      fmt::format("{} vertices, {} edges and {} bytes of names", layout.vertices, layout.edges, layout.names_bytes);
  if (layout.vertices > k_most_vertices || layout.edges > k_most_vertices || layout.names_bytes > k_most_vertices) {
    refuse(from.name(), fmt::format("the header announces {}; this is more than any machine can hold", sizes));
  }
  if (from.size_bytes() > 0 && layout.file_bytes() != from.size_bytes()) {
    const bool shorter = from.size_bytes() < layout.file_bytes();
    refuse(from.name(), fmt::format("{}: the header announces {}, which take {} bytes; the file has {}",
                                    shorter ? "is truncated" : "unexpected data follows the end of the graph", sizes,
                                    layout.file_bytes(), from.size_bytes()));
  }
  check_sizes(from.name(), layout.vertices, layout.edges, options);
  return layout;
}

/// Reads offsets that begin at 0, never decrease and end at the number of edges.
std::vector<std::uint64_t> read_offsets(payload_reader& payload, const csr_layout& layout, const std::string& name) {
  std::vector<std::uint64_t> offsets;
  payload.numbers<std::uint64_t>(layout.vertices + 1, "offsets", [&](std::span<const std::uint64_t> part) {
    for (const std::uint64_t offset : part) {
      const std::uint64_t least = offsets.empty() ? 0 : offsets.back();
      if (offset < least || offset > layout.edges || (offsets.empty() && offset != 0)) {
        refuse(name, fmt::format("the offset of row {} is {}; it must lie between {} and {}", offsets.size(), offset,
                                 least, offsets.empty() ? 0 : layout.edges));
      }
      offsets.push_back(offset);
    }
  });
  if (offsets.back() != layout.edges) {
    refuse(name,
           fmt::format("the last offset is {}; it must be the number of edges, {}", offsets.back(), layout.edges));
  }
  return offsets;
}

std::vector<std::string> read_names(payload_reader& payload, const csr_layout& layout, const std::string& name) {
  std::vector<std::string> names;
  std::string current;
  payload.numbers<char>(layout.names_bytes, "names", [&](std::span<const char> part) {
    for (const char c : part) {
      if (c != '\0') {
        current += c;
      } else {
        names.push_back(std::exchange(current, {}));
      }
    }
  });
  if (layout.names && (names.size() != layout.vertices || !current.empty())) {
    refuse(name, fmt::format("there are {} names for {} vertices", names.size() + (current.empty() ? 0 : 1),
                             layout.vertices));
  }
  return names;
}

template <class Target>
void read_targets(payload_reader& payload, const csr_layout& layout, const std::string& name, auto&& give) {
  payload.numbers<Target>(layout.edges, "targets", [&](std::span<const Target> part) {
    for (const Target target : part) {
      if (target >= layout.vertices) {
        refuse(name, fmt::format("vertex {} is out of range: the header allows 0 to {}", target,
                                 static_cast<std::int64_t>(layout.vertices) - 1));
      }
      give(target);
    }
  });
}

/// Calls give_offsets(vector&&) once, then give_target(target) for each edge.
graph_header read_csr(byte_source& from, const read_options& options, auto&& give_offsets, auto&& give_target) {
  const csr_layout layout = read_layout(from, options);
  payload_reader payload(from);
  give_offsets(read_offsets(payload, layout, from.name()));
  if (layout.wide) {
    read_targets<std::uint64_t>(payload, layout, from.name(), give_target);
  } else {
    read_targets<std::uint32_t>(payload, layout, from.name(), give_target);
  }
  graph_header header;
  header.names = read_names(payload, layout, from.name());
  payload.end();
  if (const std::string equal = describe_equal_names(header.names); !equal.empty()) refuse(from.name(), equal);
  header.vertices = layout.vertices;
  header.edges = layout.edges;
  header.directed = layout.directed;
  return header;
}

}  // namespace

graph_header stream_csr_file(byte_source& from, const read_options& options, const edge_sink& sink) {
  std::vector<std::uint64_t> offsets;
  edge_block block(sink);
  std::uint64_t row = 0;
  graph_header header = read_csr(
      from, options, [&](std::vector<std::uint64_t>&& read) { offsets = std::move(read); },
      [&](std::uint64_t target) {
        while (offsets[row + 1] <= block.count()) ++row;
        if (options.weights) options.weights(1);
        block.add({row, target});
      });
  block.finish();
  return header;
}

csr_graph read_csr_file(const std::string& path, const read_options& options) {
  const auto from = open_byte_source(path, options.progress);
  csr_graph result;
  auto& rows = result.rows;
  static_cast<graph_header&>(result) = read_csr(
      *from, options, [&](std::vector<std::uint64_t>&& read) { rows.offsets = std::move(read); },
      [&](std::uint64_t target) { rows.targets.push_back(target); });
  rows.last = rows.vertices = result.vertices;
  return result;
}

}  // namespace shoal::graph
