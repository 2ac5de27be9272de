// SPDX-License-Identifier: Apache-2.0
// Records the memory orders of each operation by its place in the code, and can weaken one: a mutant. If a mutant of a
// structure passes its model test, the order is unnecessary or the test is too weak.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/explorer/source_place.hpp"

namespace shoal::model {

enum class operation : std::uint8_t { load, store, replace, fence };

inline std::string_view name_of(operation o) {
  constexpr std::string_view k_names[] = {"load", "store", "replace", "fence"};
  return k_names[static_cast<int>(o)];
}
inline std::string_view name_of(std::memory_order o) {
  switch (o) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}
inline std::string_view file_of(source_place where) {
  const std::string_view path = where.file_name();
  return path.substr(path.find_last_of('/') + 1);
}

// An operation with an order stronger than relaxed.
struct site {
  operation what;
  std::memory_order asked;
  source_place where;

  bool is_at(source_place other) const {
    return where.line() == other.line() && where.column() == other.column() && file_of(where) == file_of(other);
  }
  // For example "pop: fence seq_cst".
  std::string name() const {
    std::string_view function = where.function_name();
    function = function.substr(0, function.find('('));
    function = function.substr(function.find_last_of(":& *") + 1);
    return fmt::format("{}: {} {}", function, name_of(what), name_of(asked));
  }
  // All weaker orders, the strongest first.
  std::vector<std::memory_order> weaker() const {
    using enum std::memory_order;
    std::vector<std::memory_order> orders;
    if (asked == seq_cst && (what == operation::replace || what == operation::fence)) orders.push_back(acq_rel);
    if (asked == seq_cst || asked == acq_rel) {
      if (what != operation::store) orders.push_back(acquire);
      if (what != operation::load) orders.push_back(release);
    }
    orders.push_back(relaxed);
    return orders;
  }
};

struct mutation {
  site at;
  std::memory_order instead;

  std::string name() const { return fmt::format("{} as {}", at.name(), name_of(instead)); }
};

class order_book {
public:
  // Records the operations in the file of this name.
  void record(std::string file) { recorded_file_ = std::move(file); }
  void mutate(mutation m) { mutation_ = m; }

  const std::vector<site>& sites() const { return sites_; }

  std::memory_order effective(operation what, std::memory_order asked, source_place where) {
    if (asked == std::memory_order_relaxed) return asked;
    if (mutation_ && mutation_->at.is_at(where)) return mutation_->instead;
    if (!recorded_file_.empty() && file_of(where) == recorded_file_ &&
        std::none_of(sites_.begin(), sites_.end(), [&](const site& s) { return s.is_at(where); }))
      sites_.push_back({what, asked, where});
    return asked;
  }

private:
  std::string recorded_file_;
  std::vector<site> sites_;
  std::optional<mutation> mutation_;
};

}  // namespace shoal::model
