// SPDX-License-Identifier: Apache-2.0
#include "shoal/graph/kronecker.hpp"

#include <fmt/format.h>

#include "graph/reader.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"

namespace shoal::graph {
namespace {

/// The share of 2^32 for a probability in percent.
constexpr std::uint64_t share(std::uint64_t percent) { return (percent << 32) / 100; }

// These bounds map a 32-bit draw to quadrant A, B, C or D of the adjacency matrix.
constexpr std::uint64_t k_below_a = share(57);
constexpr std::uint64_t k_below_b = share(57 + 19);
constexpr std::uint64_t k_below_c = share(57 + 19 + 19);

constexpr std::uint64_t k_draw_stream = 0x6b726f6e;     // random stream of the edges
constexpr std::uint64_t k_permute_stream = 0x7065726d;  // random stream of the labels
constexpr std::uint64_t k_uniform_stream = 0x756e6966;  // random stream of the uniform graph

std::uint64_t stream(std::uint64_t seed, std::uint64_t purpose) noexcept {
  return mix64(splitmix64::at(seed, purpose));
}

__extension__ using wide = unsigned __int128;

}  // namespace

vertex_permutation::vertex_permutation(int bits, std::uint64_t seed) noexcept
    : mask_((std::uint64_t{1} << bits) - 1), shift_(bits > 1 ? (bits + 1) / 2 : 1) {
  const std::uint64_t key = stream(seed, k_permute_stream);
  for (std::uint64_t i = 0; i < 4; ++i) rounds_[i] = {splitmix64::at(key, 2 * i) | 1, splitmix64::at(key, 2 * i + 1)};
}

kronecker::kronecker(int scale, std::uint64_t edge_factor, std::uint64_t seed)
    : scale_(scale),
      edge_factor_(edge_factor),
      seed_(stream(seed, k_draw_stream)),
      permute_(scale >= 0 && scale <= k_largest_scale ? scale : 0, seed) {
  if (scale < 1 || scale > k_largest_scale) {
    throw error(errc::invalid_argument,
                fmt::format("a Kronecker graph of scale {} is not possible; give 1 to {}", scale, k_largest_scale));
  }
  if (edge_factor < 1 || edge_factor >= (std::uint64_t{1} << 14)) {
    throw error(errc::invalid_argument,
                fmt::format("an edge factor of {} is not possible; give 1 to 16383", edge_factor));
  }
}

edge kronecker::at(std::uint64_t index) const noexcept {
  const std::uint64_t key = splitmix64::at(seed_, index);
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t both = 0;
  for (int level = 0; level < scale_; ++level) {
    // One 64-bit value serves two levels.
    if (level % 2 == 0) both = splitmix64::at(key, static_cast<std::uint64_t>(level));
    const std::uint64_t draw = both & 0xffffffffu;
    both >>= 32;
    const std::uint64_t not_a = draw >= k_below_a;
    const std::uint64_t lower_half = draw >= k_below_b;  // C or D: the bit of `from`
    const std::uint64_t in_d = draw >= k_below_c;
    from = (from << 1) | lower_half;
    to = (to << 1) | (not_a ^ lower_half ^ in_d);  // B or D
  }
  return {permute_(from), permute_(to)};
}

void kronecker::generate(std::uint64_t first, std::span<edge> out) const noexcept {
  SHOAL_ASSERT(first <= edges() && out.size() <= edges() - first, "only edges that the graph has can be generated");
  for (edge& e : out) e = at(first++);
}

uniform::uniform(std::uint64_t vertices, std::uint64_t edges, std::uint64_t seed)
    : vertices_(vertices), edges_(edges), seed_(stream(seed, k_uniform_stream)) {
  if (vertices > k_most_vertices || edges > (k_most_vertices << 14) || (vertices == 0 && edges > 0)) {
    throw error(errc::invalid_argument,
                fmt::format("a graph of {} vertices and {} edges is not possible", vertices, edges));
  }
}

edge uniform::at(std::uint64_t index) const noexcept {
  const std::uint64_t key = splitmix64::at(seed_, index);
  // The upper half of a product: uniform up to 2^-16 relative for the largest graphs, much better for smaller ones.
  const auto end = [&](std::uint64_t which) {
    return static_cast<std::uint64_t>((wide{splitmix64::at(key, which)} * vertices_) >> 64);
  };
  return {end(0), end(1)};
}

void uniform::generate(std::uint64_t first, std::span<edge> out) const noexcept {
  SHOAL_ASSERT(first <= edges_ && out.size() <= edges_ - first, "only edges that the graph has can be generated");
  for (edge& e : out) e = at(first++);
}

}  // namespace shoal::graph
