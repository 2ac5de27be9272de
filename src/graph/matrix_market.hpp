// SPDX-License-Identifier: Apache-2.0
// Matrix Market files as graphs: coordinate format, every field (pattern, real, integer, complex) and symmetry
// (general, symmetric, skew-symmetric, hermitian). Entry (i, j) is an edge from i-1 to j-1, even if its value is zero;
// values are checked and dropped. `general` is a directed graph; the others contain each undirected edge once.
// Rejected: arrays (dense), matrices that are not square, more or fewer entries than announced.
// Declared in reader.hpp as stream_matrix_market. Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange
// Formats: Initial Design" (1996). Test: tests/unit/graph/matrix_market_test.cpp.
#pragma once

#include <string_view>

namespace shoal::graph {

inline constexpr std::string_view k_matrix_market_magic = "%%MatrixMarket";

}  // namespace shoal::graph
