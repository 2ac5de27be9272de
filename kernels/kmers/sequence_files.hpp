// SPDX-License-Identifier: Apache-2.0
// Reads files of sequences in parts: plain ones are divided, compressed ones (gzip, zstd) are one part each.
//   for (const text_part& p : parts_of(paths, 16)) read_part(paths[p.file], p, k, bases);
// All parts together have each k-mer of the files once: a part of FASTA goes on over its end for k - 1 bases.
// Who may call: any thread; may block for the disk, never switches tasks.
// Errors: shoal::error with file, line if there is one, and what to do. Of a part: the lines are counted from the
// beginning of the file, which is read again for that.
// Test: tests/unit/kernels/kmers_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::kernels::kmers {

struct text_part {
  std::uint32_t file = 0;  // which of the files
  bool whole = true;
  std::uint64_t begin = 0;  // bytes, unless it is the whole file: what begins in [begin, end) belongs to the part
  std::uint64_t end = 0;
};

/// At least `least_bytes` each, and about `wanted` of a file at most.
std::vector<text_part> parts_of(const std::vector<std::string>& paths, std::uint64_t wanted,
                                std::uint64_t least_bytes = std::uint64_t{4} << 20);

/// Appends the bases of a part, with breaks between sequences.
void read_part(const std::string& path, const text_part& part, unsigned k, std::vector<std::uint8_t>& bases);

/// The same of a whole file.
void read_file(const std::string& path, std::vector<std::uint8_t>& bases);

}  // namespace shoal::kernels::kmers
