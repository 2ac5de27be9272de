// SPDX-License-Identifier: Apache-2.0
#include "kernels/hashmap/words.hpp"

#include "graph/byte_source.hpp"
#include "graph/line_reader.hpp"
#include "shoal/error.hpp"

namespace shoal::kernels::hashmap {

std::string generated_word(std::uint64_t seed, std::uint64_t i) {
  splitmix64 random(mix64(seed) ^ splitmix64::at(0, i));
  std::uint64_t bits = random();
  const std::size_t letters = 6 + bits % 15;
  std::string word(letters, ' ');
  unsigned left = 0;
  for (char& c : word) {
    if (left == 0) {
      bits = random();
      left = 12;  // letters of 64 bits; 26^12 is below 2^57
    }
    c = static_cast<char>('a' + bits % 26);
    bits /= 26;
    --left;
  }
  return word;
}

word_list lines_of(const std::string& path) {
  constexpr std::size_t k_longest_word = 1024;
  const auto from = graph::open_byte_source(path);
  graph::line_reader lines(*from);
  word_list words;
  std::string_view line;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (line.size() > k_longest_word)
      lines.refuse("the word is longer than " + std::to_string(k_longest_word) +
                   " bytes; give a list of one word per line");
    words.text.insert(words.text.end(), line.begin(), line.end());
    words.begins.push_back(words.text.size());
  }
  if (words.size() == 0) throw error(errc::bad_input, path + ": there is no word, only empty lines");
  return words;
}

}  // namespace shoal::kernels::hashmap
