// SPDX-License-Identifier: Apache-2.0
// Valid manifests as seeds for fuzzing their reader.
#include <string>
#include <vector>

#include "files/manifest.hpp"
#include "fuzz/seeds.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  files::manifest m;
  m.number = 12;
  m.nodes = 3;
  std::vector<std::string> result;
  for (int i = 0; i < 3; ++i) {
    const std::string text = files::text_of(m);
    result.push_back('\0' + text);
    result.push_back('\1' + text);  // checksum corrected
    m.arrays.push_back({"array_" + std::to_string(i), {'f', 8}, 12, 0x1234, {3, 4}});
    m.values.push_back({"value_" + std::to_string(i), {'u', 4}, "abcd"});
  }
  return result;
}

}  // namespace shoal::fuzz
