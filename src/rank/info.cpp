// SPDX-License-Identifier: Apache-2.0
#include "rank/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace shoal::rank {
namespace {

void check_key(const char* key) {
  const std::size_t n = key == nullptr ? 0 : std::strlen(key);
  if (n == 0 || n >= MPI_MAX_INFO_KEY)
    throw mpi_error(MPI_ERR_INFO_KEY,
                    fmt::format("a key has 1 to {} characters, and this one {}", MPI_MAX_INFO_KEY - 1, n));
}

auto find_pair(auto& pairs, const char* key) {
  check_key(key);
  return std::ranges::find_if(pairs, [key](const auto& p) { return p.first == key; });
}

}  // namespace

void info::set(const char* key, const char* value) {
  const auto at = find_pair(pairs_, key);
  if (value == nullptr || std::strlen(value) >= MPI_MAX_INFO_VAL)
    throw mpi_error(MPI_ERR_INFO_VALUE, fmt::format("a value has at most {} characters", MPI_MAX_INFO_VAL - 1));
  if (at != pairs_.end())
    at->second = value;
  else
    pairs_.emplace_back(key, value);
}

const std::string* info::find(const char* key) const {
  const auto at = find_pair(pairs_, key);
  return at == pairs_.end() ? nullptr : &at->second;
}

void info::erase(const char* key) {
  const auto at = find_pair(pairs_, key);
  if (at == pairs_.end()) throw mpi_error(MPI_ERR_INFO_NOKEY, fmt::format("there is no key '{}'", key));
  pairs_.erase(at);
}

const std::string& info::key(int n) const {
  if (n < 0 || static_cast<std::size_t>(n) >= pairs_.size())
    throw mpi_error(MPI_ERR_ARG, fmt::format("there is no key number {}; there are {}", n, pairs_.size()));
  return pairs_[static_cast<std::size_t>(n)].first;
}

}  // namespace shoal::rank
