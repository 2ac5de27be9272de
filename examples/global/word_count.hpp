// SPDX-License-Identifier: Apache-2.0
// How often each word occurs in a text that lies on all nodes. A piece of the text begins with the first word that begins
// in it, and ends with the end of the last one, which may lie on the next node.
#pragma once

#include <cstdint>
#include <string>

#include "shoal/global_counter.hpp"
#include "shoal/shoal.hpp"

namespace examples {

/// Words are separated by spaces.
inline void count_words(const shoal::array_ref<char>& text, const shoal::counter_ref<std::string>& counts) {
  constexpr std::uint64_t k_piece = 1 << 16;
  const std::uint64_t n = text.size();
  shoal::parallel_for(shoal::everywhere, (n + k_piece - 1) / k_piece, [=](std::uint64_t piece) {
    const std::uint64_t first = piece * k_piece;
    const std::uint64_t last = std::min(n, first + k_piece);
    bool inside = first > 0 && text.get(first - 1) != ' ';  // a word that the piece before has begun
    std::uint64_t at = first;
    std::string word;
    for (const char c : shoal::element_stream(text, first, n)) {
      if (c != ' ') {
        if (!inside) word += c;
      } else {
        if (!word.empty()) counts.async_add(word);
        word.clear();
        inside = false;
        if (at + 1 >= last) break;
      }
      ++at;
    }
    if (!word.empty()) counts.async_add(word);
  });
}

}  // namespace examples
