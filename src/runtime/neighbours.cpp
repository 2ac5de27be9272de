// SPDX-License-Identifier: Apache-2.0
#include "runtime/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "shoal/error.hpp"

namespace shoal::runtime {

std::vector<std::byte> visiting_card::bytes() const {
  const std::string text =
      fmt::format("{}\n{} {} {} {} {} {}", neighbourhood, processors, segment_bytes, memory_bytes, pid, segment, world);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

visiting_card visiting_card::read(std::span<const std::byte> bytes) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  visiting_card card;
  std::getline(text, card.neighbourhood);
  text >> card.processors >> card.segment_bytes >> card.memory_bytes >> card.pid >> card.segment >> card.world;
  if (!text || card.processors == 0)
    throw error(errc::mismatch,
                "a node describes itself in a way that is not known here; start all nodes from the "
                "same build");
  return card;
}

bool neighbours::all_here() const {
  for (std::uint32_t n = 0; n < cards_.size(); ++n)
    if (!here(n)) return false;
  return true;
}

std::uint32_t neighbours::nodes_beside(std::uint32_t node) const {
  return static_cast<std::uint32_t>(std::ranges::count(cards_, at(node).neighbourhood, &visiting_card::neighbourhood));
}

std::uint32_t neighbours::index_of(std::uint32_t node) const {
  return static_cast<std::uint32_t>(std::count_if(cards_.begin(), cards_.begin() + node, [&](const visiting_card& c) {
    return c.neighbourhood == at(node).neighbourhood;
  }));
}

unsigned neighbours::machines() const {
  std::set<std::string> all;
  for (const visiting_card& c : cards_) all.insert(c.neighbourhood);
  return static_cast<unsigned>(all.size());
}

unsigned neighbours::workers() const {
  unsigned least = ~0U;
  for (std::uint32_t n = 0; n < cards_.size(); ++n) least = std::min(least, at(n).processors / nodes_beside(n));
  return std::max(least, 1U);
}

std::uint64_t neighbours::segment_bytes() const {
  return std::ranges::min_element(cards_, {}, &visiting_card::segment_bytes)->segment_bytes;
}

std::uint64_t neighbours::memory_bytes() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t n = 0; n < cards_.size(); ++n) least = std::min(least, at(n).memory_bytes / nodes_beside(n));
  return least;
}

std::vector<std::uint32_t> neighbours::blocks() const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t n = 0; n < cards_.size(); ++n) {
    if (n == 0 || at(n).neighbourhood != at(n - 1).neighbourhood) all.push_back(0);
    ++all.back();
  }
  if (all.size() != machines()) all.clear();
  return all;
}

}  // namespace shoal::runtime
