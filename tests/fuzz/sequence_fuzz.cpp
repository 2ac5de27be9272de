// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of FASTA and FASTQ. The first byte chooses the size of the blocks in which the text arrives: the
// result must not depend on it. An accepted text gives bases and breaks only, at most one per character and an end; a
// rejected one must throw a shoal::error with a message that can be printed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kmers/kmer.hpp"
#include "kernels/kmers/sequence_parser.hpp"
#include "shoal/error.hpp"

namespace {

using namespace shoal::kernels::kmers;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "sequence_fuzz: %s\n", what);
  std::abort();
}

/// The bases, or the message of the error.
std::pair<std::vector<std::uint8_t>, std::string> parsed(std::string_view text, std::size_t block_bytes) {
  std::vector<std::uint8_t> bases;
  sequence_parser parser("reads");
  try {
    for (std::size_t at = 0; at < text.size(); at += block_bytes) parser.take(text.substr(at, block_bytes), bases);
    parser.end(bases);
  } catch (const shoal::error& e) {
    expect(e.code() == shoal::errc::bad_input, "the code of bad input");
    expect(std::string_view{e.what()}.starts_with("reads"), "the file's name in the message");
    for (const char* c = e.what(); *c != '\0'; ++c) expect(*c >= ' ' && *c <= '~', "a message that can be printed");
    return {{}, e.what()};
  }
  return {std::move(bases), {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = parsed(text, std::max<std::size_t>(text.size(), 1));
  expect(whole == parsed(text, 1 + data[0] % 16), "the same in blocks");
  expect(whole.first.size() <= text.size() + 1, "no more bases than characters");
  for (const std::uint8_t base : whole.first) expect(base <= k_break, "bases and breaks only");
  for_each_kmer(whole.first, 0, whole.first.size(), {.k = 1 + data[0] % 32U}, [](std::uint64_t) {});
  return 0;
}
