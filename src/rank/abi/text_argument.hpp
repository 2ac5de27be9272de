// SPDX-License-Identifier: Apache-2.0
// Texts that go to and come from the program.
#pragma once

#include <cstring>
#include <string>

#include "rank/abi/entry.hpp"

namespace shoal::rank::abi {

/// Stores `text`, cut to `most` characters with its zero, and its length.
inline void give_text(const std::string& text, char* to, std::size_t most, int* length) {
  const std::size_t n = std::min(text.size(), most - 1);
  std::memcpy(&output(to), text.data(), n);
  to[n] = '\0';
  output(length) = static_cast<int>(n);
}

/// A text of the program, cut likewise.
inline std::string checked_text(const char* text, std::size_t most) {
  if (text == nullptr) throw mpi_error(MPI_ERR_ARG, "a text is null");
  return {text, strnlen(text, most - 1)};
}

}  // namespace shoal::rank::abi
