// SPDX-License-Identifier: Apache-2.0
// Valid texts of FASTA and FASTQ as seeds for fuzzing their reader.
#include <string>
#include <vector>

#include "fuzz/seeds.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  for (const std::string text :
       {">one\nACGTNNACGT\nacgu\n>two\n\nRYK-*.\n", ">one\r\nACGT\r\n\r\n;two\r\nTT",
        "@one\nACGT\n+\nII@+\n@two\nNNN\n+two\n>>>\n", "@one\r\nAC\r\n+\r\nII\r\n\r\n@e\n\n+\n"})
    for (const char block : {'\0', '\2', '\x1f'}) result.push_back(block + text);
  return result;
}

}  // namespace shoal::fuzz
