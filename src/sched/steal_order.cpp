// SPDX-License-Identifier: Apache-2.0
#include "sched/steal_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/setting_value.hpp"
#include "shoal/error.hpp"

namespace shoal::sched {

std::vector<unsigned> others_in_turn(const steal_view& view) {
  std::vector<unsigned> others;
  for (unsigned i = 1; i < view.workers(); ++i) others.push_back((view.self() + i) % view.workers());
  return others;
}

unsigned fullest_other(const steal_view& view) noexcept {
  const auto after = [&view](unsigned w) { return w + 1 == view.workers() ? 0 : w + 1; };
  unsigned best = after(view.self());
  std::size_t most = view.load(best);
  for (unsigned w = after(best); w != view.self(); w = after(w)) {
    const std::size_t load = view.load(w);
    if (load > most) best = w, most = load;
  }
  return best;
}

unsigned steal_arguments::number(std::string_view what, unsigned otherwise) {
  constexpr std::int64_t k_most = 1'000'000;
  if (taken_ == given_.size()) return otherwise;
  const std::string& text = given_[taken_++];
  const auto value = base::parse_int(text);
  if (!value || *value < 1 || *value > k_most)
    throw error(errc::invalid_argument, fmt::format("{} is a number from 1 to {}, not '{}'", what, k_most, text));
  return static_cast<unsigned>(*value);
}

unsigned steal_arguments::word(const std::vector<std::string_view>& words) {
  if (taken_ == given_.size()) return 0;
  const std::string& text = given_[taken_++];
  const auto found = std::ranges::find(words, text);
  if (found == words.end())
    throw error(errc::invalid_argument, fmt::format("'{}' should be {}", text, fmt::join(words, " or ")));
  return static_cast<unsigned>(found - words.begin());
}

void steal_arguments::end() const {
  if (taken_ < given_.size())
    throw error(errc::invalid_argument, fmt::format("the argument '{}' is one too many", given_[taken_]));
}

}  // namespace shoal::sched
