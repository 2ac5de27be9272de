// SPDX-License-Identifier: Apache-2.0
// Info objects of MPI: pairs of text in the order of their first setting.
// Who may call: one thread at a time. Complexity: O(pairs). Errors: mpi_error.
// Source: MPI 5.0, chapter 10. Test: tests/conformance/communicators.c.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/handle.hpp"

namespace shoal::rank {

using info_pairs = std::vector<std::pair<std::string, std::string>>;

class info final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::info;
  static constexpr int k_error = MPI_ERR_INFO;
  static constexpr const char* k_name = "info object";

  explicit info(info_pairs pairs = {}) : handle_object(k_kind), pairs_(std::move(pairs)) {}

  void set(const char* key, const char* value);
  /// nullptr: there is none.
  const std::string* find(const char* key) const;
  void erase(const char* key);
  const std::string& key(int n) const;
  const info_pairs& pairs() const noexcept { return pairs_; }

private:
  info_pairs pairs_;
};

}  // namespace shoal::rank
