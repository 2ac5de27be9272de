// SPDX-License-Identifier: Apache-2.0
// Connected components by labels: each vertex has its own number as its label and passes it to its neighbours, who keep
// the least; a vertex whose label has changed passes it on.
#pragma once

#include <cstdint>

#include "shoal/graph.hpp"
#include "shoal/shoal.hpp"

namespace examples {

/// `g`: rows in both directions. `labels` and `passed` are like its degrees. Returns the number of rounds.
inline unsigned find_components(const shoal::graph_ref<>& g, const shoal::array_ref<std::uint32_t>& labels,
                                const shoal::array_ref<std::uint32_t>& passed) {
  passed.fill(~std::uint32_t{0});
  shoal::parallel_for(shoal::owners_of(labels), g.vertices(),
                      [=](std::uint64_t v) { labels.put(v, static_cast<std::uint32_t>(v)); });
  shoal::change_count changes;
  unsigned rounds = 0;
  do {
    shoal::parallel_for(shoal::owners_of(labels), g.vertices(), [=, c = changes.ref()](std::uint64_t v) {
      const std::uint32_t label = labels.get(v);
      if (passed.exchange(v, label) == label) return;
      for (const auto u : g.neighbours(v)) labels.async_min(u, label, c);
    });
    ++rounds;
  } while (changes.take() != 0);
  return rounds;
}

}  // namespace examples
