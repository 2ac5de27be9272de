// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/setting_value.hpp"
#include "shoal/error.hpp"

namespace shoal::collectives {
namespace {

constexpr std::array<std::string_view, k_operations> k_operation_names{
    "broadcast", "reduce", "all_reduce", "gather", "scatter", "all_gather", "all_to_all"};
constexpr std::array<std::string_view, 8> k_algorithm_names{"binomial",     "scattered", "straight", "doubling",
                                                            "rabenseifner", "bruck",     "ring",     "pairwise"};

bool has(operation what, algorithm use) noexcept {
  using enum algorithm;
  switch (what) {
    case operation::broadcast: return use == binomial || use == scattered;
    case operation::reduce: return use == binomial || use == rabenseifner;
    case operation::all_reduce: return use == doubling || use == rabenseifner;
    case operation::gather:
    case operation::scatter: return use == binomial || use == straight;
    case operation::all_gather: return use == bruck || use == ring;
    case operation::all_to_all: return use == bruck || use == pairwise;
  }
  return false;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

template <class Names>
std::size_t place_in(const Names& names, std::string_view word) noexcept {
  return static_cast<std::size_t>(std::ranges::find(names, word) - names.begin());
}

[[noreturn]] void refuse(std::string_view row, const std::string& why) {
  throw error(errc::invalid_argument,
              fmt::format("the setting collectives, '{}': {}; a row is OPERATION MEMBERS BYTES ALGORITHM, such as "
                          "'all_gather 4 64K ring'",
                          row, why));
}

}  // namespace

// Chosen by counting messages and bytes per member, and by measurements between nodes of one machine.
algorithm_table::algorithm_table() {
  using enum algorithm;
  constexpr std::size_t k_long_vector = 16384;
  const auto rows = [this](operation what) -> std::vector<row>& { return rows_[static_cast<std::size_t>(what)]; };
  rows(operation::broadcast) = {{0, 0, binomial}, {3, k_long_vector, scattered}};
  rows(operation::reduce) = {{0, 0, binomial}, {3, k_long_vector, rabenseifner}};
  rows(operation::all_reduce) = {{0, 0, doubling}, {3, k_long_vector, rabenseifner}};
  rows(operation::gather) = {{0, 0, binomial}, {0, 4096, straight}};
  rows(operation::scatter) = {{0, 0, binomial}, {0, 4096, straight}};
  rows(operation::all_gather) = {{0, 0, bruck}};
  rows(operation::all_to_all) = {{0, 0, pairwise}, {3, 0, bruck}, {3, 257, pairwise}};
}

algorithm_table::algorithm_table(std::string_view rows) : algorithm_table() {
  std::array<bool, k_operations> replaced{};
  while (!rows.empty()) {
    const std::size_t end = std::min(rows.find(','), rows.size());
    if (rows.find_first_not_of(' ') < end) read_row(rows.substr(0, end), replaced);
    rows.remove_prefix(std::min(end + 1, rows.size()));
  }
}

void algorithm_table::read_row(std::string_view text, std::array<bool, k_operations>& replaced) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 4) refuse(text, fmt::format("{} words", words.size()));
  const std::size_t what = place_in(k_operation_names, words[0]);
  if (what == k_operations) refuse(text, fmt::format("operations are {}", fmt::join(k_operation_names, ", ")));
  const std::size_t use = place_in(k_algorithm_names, words[3]);
  if (use == k_algorithm_names.size() || !has(static_cast<operation>(what), static_cast<algorithm>(use))) {
    std::string known;
    for (std::size_t a = 0; a < k_algorithm_names.size(); ++a)
      if (has(static_cast<operation>(what), static_cast<algorithm>(a)))
        known += fmt::format("{}{}", known.empty() ? "" : " or ", k_algorithm_names[a]);
    refuse(text, fmt::format("{} is {}", words[0], known));
  }
  row r{0, 0, static_cast<algorithm>(use)};
  const char* const end = words[1].data() + words[1].size();
  const auto members = std::from_chars(words[1].data(), end, r.members);
  const auto bytes = base::parse_size(words[2]);
  if (members.ec != std::errc{} || members.ptr != end || !bytes) refuse(text, "members or bytes are no number");
  r.bytes = *bytes;
  std::vector<row>& of = rows_[what];
  if (!std::exchange(replaced[what], true)) of.clear();
  if (of.empty() && (r.members != 0 || r.bytes != 0))
    refuse(text, fmt::format("the first row of {} must be for 0 members and 0 bytes", words[0]));
  of.push_back(r);
}

std::string algorithm_table::text() const {
  std::string all;
  for (std::size_t what = 0; what < k_operations; ++what)
    for (const row& r : rows_[what])
      all += fmt::format("{}{} {} {} {}", all.empty() ? "" : ", ", k_operation_names[what], r.members, r.bytes,
                         k_algorithm_names[static_cast<std::size_t>(r.use)]);
  return all;
}

algorithm chosen(const link& of, operation what, std::size_t bytes) noexcept {
  static const algorithm_table standard;
  return (of.algorithms() == nullptr ? standard : *of.algorithms()).of(what, of.size(), bytes);
}

}  // namespace shoal::collectives
