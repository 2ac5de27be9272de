// SPDX-License-Identifier: Apache-2.0
// Word count: how often each word occurs in a text of lines of equal length. Each task counts its lines in its own
// table; tables are merged in pairs. The words follow Zipf's law: the weight of the r-th most frequent word is 1/r.
// Verified against the generator's counts, word by word. Work: words. Tables contain views of the text.
// Source: SYSTEMS: Chasapis 2014 (12000 x 12000 characters). Test: tests/unit/problems/wordcount_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace problems::wordcount {

/// The minimum number of lines per task, for constructs that take a grain.
inline constexpr std::size_t k_grain_lines = 64;

/// Open addressing; the number of slots is a power of two, and at most half of them are used.
class table {
public:
  table() = default;

  void add(std::string_view word, std::uint64_t hash, std::uint64_t count) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    slot& s = find(word, hash);
    if (s.count == 0) {
      s.word = word;
      s.hash = hash;
      ++used_;
    }
    s.count += count;
  }

  /// Merges another table; iterates over the smaller of the two.
  void merge(table&& other) {
    if (other.used_ > used_) std::swap(*this, other);
    for (const slot& s : other.slots_)
      if (s.count != 0) add(s.word, s.hash, s.count);
  }

  std::size_t words() const noexcept { return used_; }
  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const slot& s : slots_) sum += s.count;
    return sum;
  }

  std::uint64_t count_of(std::string_view word, std::uint64_t hash) const noexcept {
    if (slots_.empty()) return 0;
    return const_cast<table*>(this)->find(word, hash).count;
  }

private:
  struct slot {
    std::string_view word;
    std::uint64_t hash = 0;
    std::uint64_t count = 0;  // 0: free
  };

  slot& find(std::string_view word, std::uint64_t hash) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].count != 0 && !(slots_[at].hash == hash && slots_[at].word == word)) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
    std::swap(old, slots_);
    for (const slot& s : old)
      if (s.count != 0) find(s.word, s.hash) = s;
  }

  std::vector<slot> slots_;
  std::size_t used_ = 0;
};

/// The hash of a word is updated with each letter and finished at its end.
inline constexpr std::uint64_t k_no_letters = 0xcbf29ce484222325;
inline std::uint64_t with_letter(std::uint64_t hash, char letter) noexcept {
  return (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
}
inline std::uint64_t stirred(std::uint64_t hash) noexcept { return (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9 >> 8; }

struct text {
  std::size_t lines = 0;
  std::size_t columns = 0;
  std::vector<char> letters;  // lines * columns; a word does not continue on the next line
  std::vector<std::string> vocabulary;
  std::vector<std::uint64_t> written;  // number of occurrences of each word of the vocabulary
};

/// The leaf: counts the words of lines [first, last) into `counted`.
inline void count_lines(const text& t, std::size_t first, std::size_t last, table& counted) {
  const char* at = t.letters.data() + first * t.columns;
  for (std::size_t line = first; line < last; ++line) {
    const char* const end = at + t.columns;
    while (at != end) {
      if (*at == ' ') {
        ++at;
        continue;
      }
      const char* const word = at;
      std::uint64_t hash = k_no_letters;
      for (; at != end && *at != ' '; ++at) hash = with_letter(hash, *at);
      counted.add({word, static_cast<std::size_t>(at - word)}, stirred(hash), 1);
    }
  }
}

/// Consonants that encode the rank, so that all words differ, then vowels; frequent words are short.
inline std::vector<std::string> make_vocabulary(std::size_t words) {
  constexpr std::string_view k_consonants = "tnshrdlcmwfgypbvkjxqz";
  constexpr std::string_view k_vowels = "eaoiu";
  std::vector<std::string> all(words);
  for (std::size_t rank = 0; rank < words; ++rank) {
    std::size_t left = rank;
    do {
      all[rank] += k_consonants[left % k_consonants.size()];
      left /= k_consonants.size();
    } while (left != 0);
    all[rank].append(1 + rank % 4, k_vowels[rank % k_vowels.size()]);
  }
  return all;
}

inline text make_text(std::size_t lines, std::size_t columns, std::size_t vocabulary, std::uint64_t seed) {
  text t;
  t.lines = lines;
  t.columns = columns;
  t.vocabulary = make_vocabulary(vocabulary);
  t.written.resize(vocabulary);
  t.letters.assign(lines * columns, ' ');
  std::vector<double> up_to(vocabulary);  // cumulative weights
  double sum = 0;
  for (std::size_t rank = 0; rank < vocabulary; ++rank) up_to[rank] = sum += 1.0 / static_cast<double>(rank + 1);
  std::uint64_t state = seed * 2 + 1;
  for (std::size_t line = 0; line < lines; ++line) {
    std::size_t column = 0;
    for (;;) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const double drawn = static_cast<double>(state >> 11) * 0x1p-53 * sum;
      const auto rank = std::min<std::size_t>(
          vocabulary - 1,
          static_cast<std::size_t>(std::upper_bound(up_to.begin(), up_to.end(), drawn) - up_to.begin()));
      const std::string& word = t.vocabulary[rank];
      if (column + word.size() > columns) break;
      std::memcpy(t.letters.data() + line * columns + column, word.data(), word.size());
      column += word.size() + 1;
      ++t.written[rank];
      if (column >= columns) break;
    }
  }
  return t;
}

inline table count_serially(const text& t) {
  table counted;
  count_lines(t, 0, t.lines, counted);
  return counted;
}

/// The counts of all words are correct, and there is no other word.
inline bool is_right(const text& t, const table& counted) {
  std::size_t distinct = 0;
  for (std::size_t rank = 0; rank < t.vocabulary.size(); ++rank) {
    std::uint64_t hash = k_no_letters;
    for (const char letter : t.vocabulary[rank]) hash = with_letter(hash, letter);
    if (counted.count_of(t.vocabulary[rank], stirred(hash)) != t.written[rank]) return false;
    distinct += t.written[rank] != 0 ? 1 : 0;
  }
  return counted.words() == distinct;
}

struct problem {
  static constexpr const char* k_name = "wordcount";
  static constexpr const char* k_work_unit = "word";
  static constexpr std::uint64_t k_size = 4000;
  static constexpr std::uint64_t k_test_size = 300;
  static constexpr std::size_t k_vocabulary = 20'000;
  using result = table;

  explicit problem(std::uint64_t size)
      : input(size >= 16 && size <= 40'000
                  ? make_text(size, size, k_vocabulary, 1)
                  : throw std::invalid_argument("the size is the lines and columns of the text, 16 to 40000")) {}

  bool valid(const result& counted) const { return is_right(input, counted); }
  std::uint64_t work(const result& counted) const { return counted.total(); }

  text input;
};

}  // namespace problems::wordcount
