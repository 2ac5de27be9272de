// SPDX-License-Identifier: Apache-2.0
// Looks for the best point of a space by noisy measurements. A new point is measured in turn with the best one so far,
// until it is clearly worse, better, or equal; a clearly worse one is given up after its first run. When the runs end
// within a comparison, the better median is first, and the result says why it is not decided.
//   grid     every point
//   random   points by chance
//   halving  many points by chance, measured once; the better half once more, and so on
//   model    some points by chance, then those from which a model expects most
// Who may call: one thread at a time. Errors: those of `measure` pass. Test: tests/unit/tune/search_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/comparison.hpp"
#include "tune/space.hpp"

namespace shoal::tune {

enum class method : std::uint8_t { automatic, grid, random, halving, model };
std::optional<method> method_of(std::string_view name);
std::string_view name_of(method m);

struct search_request {
  method how = method::automatic;  // grid up to 64 points, else model
  bool smaller_is_better = true;
  std::uint64_t most_runs = 200;
  unsigned most_repeats = 5;  // of a point, against the best one
  std::uint64_t seed = 1;
  /// One run at a point; empty: it failed there, or, if goes_on() then is false, it was stopped. Also called for points
  /// that were measured before.
  std::function<std::optional<double>(const point&)> measure;
  /// After each run; false: the search ends.
  std::function<bool(std::uint64_t runs, const point& best, double value)> goes_on;
};

struct measured_point {
  point where;
  std::vector<double> values;
  bool failed = false;

  double value() const { return median(values); }
};

struct search_result {
  method how = method::grid;
  std::vector<measured_point> points;  // the best first; failed ones last; none if no run has ended
  std::uint64_t runs = 0;
  bool complete = false;  // false: the runs or the time were used up before
  std::string doubt;      // why the first point may not be the best one of those measured; empty: it is decided
};

/// Throws errc::invalid_argument for a space without an allowed point.
search_result search(const space& s, const search_request& r);

}  // namespace shoal::tune
