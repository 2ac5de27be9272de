// SPDX-License-Identifier: Apache-2.0
// Valid files of every format as seeds for fuzzing their readers.
#include <string>
#include <vector>

#include "files/array_file.hpp"
#include "fuzz/seeds.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const char* const names[] = {"a.shoal", "a.npy", "a.raw"};
  for (const int format : {0, 1, 2}) {
    for (const std::vector<std::uint64_t>& shape : {std::vector<std::uint64_t>{}, {5, 2}, {2, 1, 5}}) {
      const auto file = files::plan_file(names[format], {'f', 4}, 10, {.shape = shape});
      std::string bytes = files::header_of(file);
      bytes.resize(file.file_bytes(), 'x');
      result.push_back(static_cast<char>(format) + bytes);
      if (format == 0) result.push_back('\x40' + bytes);  // checksum corrected
    }
  }
  return result;
}

}  // namespace shoal::fuzz
