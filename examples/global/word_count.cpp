// SPDX-License-Identifier: Apache-2.0
// Counts the words of a text in which the r-th word of a vocabulary is the more frequent the smaller r is; the numbers of
// all words together are those of the text:   word_count [MILLIONS_OF_LETTERS]
#include "word_count.hpp"

#include <cmath>

#include "seconds.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    const std::uint64_t lines = 15625 * examples::number(argc, argv, 1, 16);  // of 64 letters
    const shoal::global_array<char> text(64 * lines);
    const shoal::global_array<std::uint64_t> written(1);
    shoal::parallel_for(shoal::owners_of(text), lines, [t = text.ref(), w = written.ref()](std::uint64_t line) {
      std::string words;
      for (std::uint64_t k = 0; words.size() < 56; ++k) {
        const double drawn = static_cast<double>(shoal::mix64(line * 64 + k) >> 11) * 0x1p-53;
        words.append(1, 'w').append(std::to_string(static_cast<unsigned>(std::exp(drawn * std::log(20'000.0)))));
        words += ' ';
        w.async_add(0, 1);
      }
      words.resize(64, ' ');
      t.put(64 * line, std::span<const char>(words));
    });
    const shoal::global_counter<std::string> counts(20'000);
    examples::timed("word count", [&] { examples::count_words(text, counts); });
    const std::uint64_t found = counts->total();
    std::printf("%llu words, %llu of them different, 'w1' occurs %llu times\n", static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(counts->size()), static_cast<unsigned long long>(counts->count("w1")));
    return examples::verdict(found == written->get(0));
  });
}
