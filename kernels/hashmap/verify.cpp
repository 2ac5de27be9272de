// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "kernels/hashmap/hashmap.hpp"

namespace shoal::kernels::hashmap {
namespace {

/// What is known of a word without knowing the order of the steps.
struct known {
  std::uint64_t looked_up = 0;
  bool first = false;                  // among the first contents
  std::optional<std::uint64_t> count;  // in the map
};

std::string in_words(const std::string& word, const std::string& fault) { return "'" + word + "' " + fault; }

}  // namespace

std::string fault_of(const string_map_ref& map, const word_pool_ref& words, const options& o, std::uint64_t found) {
  std::unordered_map<std::string, known> all;
  for (std::uint64_t i = 0; i < words.size(); i += k_share) all[words.at(i)].first = true;
  for (std::uint64_t task = 0; task < o.tasks; ++task)
    for (std::uint64_t step = 0; step < o.length; ++step)
      ++all[words.at(word_of(o, task, step, words.size()))].looked_up;

  std::vector<std::string> keys;
  for (const auto& [word, k] : all) {
    keys.push_back(word);
    keys.push_back(reversed(word));
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::optional<std::uint64_t>> counts(keys.size());
  map.get(keys, counts);
  std::uint64_t present = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!counts[i]) continue;
    all[keys[i]].count = counts[i];
    ++present;
    sum += *counts[i];
  }
  if (map.size() != present) return "the map has words that nobody can have stored";
  if (sum != found)
    return "the counts add up to " + std::to_string(sum) + ", but " + std::to_string(found) + " words were found";
  for (const std::string& word : keys) {
    const known& k = all[word];
    if (k.first && !k.count) return in_words(word, "was in the map at first and is no more");
    const auto mirror = all.find(reversed(word));  // its look-ups count this word
    const known source = mirror == all.end() ? known{} : mirror->second;
    const std::uint64_t most = source.count ? source.looked_up : 0;
    const std::uint64_t least = source.first ? source.looked_up : 0;
    const std::uint64_t count = k.count.value_or(0);
    if (count < least || count > most)
      return in_words(word, "was stored " + std::to_string(count) + " times, not between " + std::to_string(least) +
                                " and " + std::to_string(most) + " times");
    if (k.count && !k.first && count == 0) return in_words(word, "is in the map, but nobody has stored it");
  }
  return {};
}

}  // namespace shoal::kernels::hashmap
