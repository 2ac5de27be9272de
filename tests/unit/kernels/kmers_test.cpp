// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kmers/kmer.hpp"
#include "kernels/kmers/part_tables.hpp"
#include "kernels/kmers/sequence_files.hpp"
#include "kernels/kmers/sequence_parser.hpp"
#include "shoal/error.hpp"
#include "unit/graph/input.hpp"

namespace shoal::kernels::kmers {
namespace {

using graph::test::gzip;
using graph::test::scratch_file;

/// As letters: N for a break.
std::string text_of(const std::vector<std::uint8_t>& bases) {
  std::string text;
  for (const std::uint8_t b : bases) text += "ACGTN"[b];
  return text;
}

std::string parsed(std::string_view text, std::size_t block_bytes = 1 << 20) {
  sequence_parser parser("f");
  std::vector<std::uint8_t> bases;
  for (std::size_t at = 0; at < text.size(); at += block_bytes) parser.take(text.substr(at, block_bytes), bases);
  parser.end(bases);
  return text_of(bases);
}

TEST(sequence_parser, reads_fasta_and_fastq_in_blocks_of_any_size) {
  const std::string fasta = ">first\nACgtN\r\nuT \n\n;second\nA-C*G.RT\n>empty\n>third\nGG";
  const std::string fastq =
      "\n@first @\nACGT\n+\n@+!>\n@second\r\nNAc\r\n+second\r\nIII\r\n\n@empty\n\n+\n\n@last\nTT\n+\nII";
  for (std::size_t block = 1; block < 50; ++block) {
    EXPECT_EQ(parsed(fasta, block), "ACGTNTTNANCNGNNTNGGN") << block;
    EXPECT_EQ(parsed(fastq, block), "ACGTNNACNTTN") << block;
  }
}

void expect_refused(std::string_view text, std::string_view begin, std::string_view what_to_do) {
  for (const std::size_t block : {1U, 5U, 1000U}) {
    try {
      parsed(text, block);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const error& e) {
      const std::string message = e.what();
      EXPECT_EQ(e.code(), errc::bad_input);
      EXPECT_TRUE(message.starts_with(begin)) << message;
      EXPECT_NE(message.find(what_to_do), std::string::npos) << message;
    }
  }
}

TEST(sequence_parser, says_where_the_input_is_wrong_and_what_to_do) {
  expect_refused("", "f: there is no sequence", "give files");
  expect_refused("\n\n", "f: there is no sequence", "give files");
  expect_refused("\nACGT\n", "f:2: the text begins with 'A'", "give files");
  expect_refused(">x\nAC\nA7C\n", "f:3: '7' is no base", "a sequence has letters");
  expect_refused(">x\nACGT>y\nAC\n", "f:2: '>' is no base", "is the end of the line before this one missing");
  expect_refused("@x\nACG\n+\nII\n", "f:4: the quality has 2 characters, but its sequence 3 bases", "fetch the file");
  expect_refused("@x\nACG\n+\nIIII\n", "f:4: the quality has 4 characters, but its sequence 3 bases", "fetch the file");
  expect_refused("@x\nACG\nACG\n+\nIIIIII\n", "f:3: the line behind a sequence begins with '+'", "are for FASTA");
  expect_refused("@x\nA\n+\nI\nx\nA\n+\nI\n", "f:5: a record begins with '@'", "four lines");
  expect_refused("@x\nACG\n+\n", "f:4: the file ends within a record", "fetch it again");
  expect_refused("@x\nACG", "f:2: the file ends within a record", "fetch it again");
}

std::map<std::string, std::uint64_t> kmers_of(const std::string& bases, const shape& s) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t at = 0; at + s.k <= bases.size(); ++at) {
    const std::string window = bases.substr(at, s.k);
    if (window.find('N') != std::string::npos) continue;
    std::string mirror(window.rbegin(), window.rend());
    for (char& c : mirror) c = "TGCA"[std::string("ACGT").find(c)];
    ++counts[s.canonical ? std::min(window, mirror) : window];
  }
  return counts;
}

std::string random_bases(std::size_t count, std::uint64_t seed, std::uint64_t one_break_in) {
  xoshiro256ss random(seed);
  std::string bases;
  while (bases.size() < count) bases += random.below(one_break_in) == 0 ? 'N' : "ACGT"[random.below(4)];
  return bases;
}

TEST(for_each_kmer, finds_each_window_once_however_the_bases_are_divided) {
  const std::string text = random_bases(400, 1, 60);
  std::vector<std::uint8_t> bases;
  for (const char c : text) bases.push_back(static_cast<std::uint8_t>(std::string("ACGTN").find(c)));
  for (const unsigned k : {1U, 2U, 15U, 31U, 32U}) {
    for (const bool canonical : {true, false}) {
      const shape s{k, canonical};
      std::map<std::string, std::uint64_t> found;
      for (std::size_t begin = 0; begin < bases.size();) {
        const std::size_t end = std::min(begin + 1 + begin % 37, bases.size());
        for_each_kmer(bases, begin, end, s, [&](std::uint64_t kmer) { ++found[letters_of(kmer, k)]; });
        begin = end;
      }
      EXPECT_EQ(found, kmers_of(text, s)) << k;
    }
  }
}

TEST(kmer_table, counts) {
  xoshiro256ss random(1);
  std::map<std::uint64_t, std::uint64_t> expected;
  kmer_table table;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> some(random.below(200));
    for (std::uint64_t& kmer : some) ++expected[kmer = random.below(2000) * random.below(2)];
    table.add(some);
  }
  std::map<std::uint64_t, std::uint64_t> found;
  table.for_each([&found](std::uint64_t kmer, std::uint64_t count) { found[kmer] = count; });
  EXPECT_EQ(found, expected);
  EXPECT_EQ(table.size(), expected.size());
}

/// FASTA with sequences and lines of many lengths; or FASTQ, whose qualities begin with '@' and '+', too.
std::string random_file(bool fastq, std::uint64_t seed, std::vector<std::string>& sequences) {
  xoshiro256ss random(seed);
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string sequence = random_bases(random.below(random.below(4) == 0 ? 500 : 40), seed + i, 50);
    sequences.push_back(sequence);
    const std::string end = random.below(5) == 0 ? "\r\n" : "\n";
    text += (fastq ? "@" : ">") + std::to_string(i) + end;
    if (fastq) {
      std::string quality(sequence.size(), '@');
      for (char& c : quality) c = "@+I>"[random.below(4)];
      text += sequence + end + "+" + end + quality + end;
    } else {
      const std::size_t width = 1 + random.below(70);
      for (std::size_t at = 0; at < sequence.size(); at += width) text += sequence.substr(at, width) + end;
    }
  }
  return text;
}

TEST(sequence_files, parts_have_each_kmer_once) {
  for (const bool fastq : {false, true}) {
    std::vector<std::string> sequences;
    const std::string text = random_file(fastq, 7, sequences);
    const scratch_file plain("plain.txt", text);
    const scratch_file compressed("compressed.gz", gzip(text));
    for (const unsigned k : {1U, 7U, 31U}) {
      const shape s{k, true};
      std::map<std::string, std::uint64_t> expected;
      for (const std::string& one : sequences)
        for (const auto& [kmer, count] : kmers_of(one, s)) expected[kmer] += count;
      for (const std::uint64_t wanted : {1U, 2U, 7U, 100U, 3000U}) {
        const std::vector<std::string> paths{plain.path(), compressed.path()};
        const auto parts = parts_of(paths, wanted, 1);
        EXPECT_EQ(parts.size(), wanted == 1 ? 2 : std::min<std::size_t>(wanted, text.size()) + 1);
        std::map<std::string, std::uint64_t> found;
        for (const text_part& p : parts) {
          std::vector<std::uint8_t> bases;
          read_part(paths[p.file], p, k, bases);
          for_each_kmer(bases, 0, bases.size(), s,
                        [&](std::uint64_t kmer) { found[letters_of(kmer, k)] += p.file == 0 ? 1 : 1000; });
        }
        for (auto& [kmer, count] : expected) ASSERT_EQ(found[kmer], 1001 * count) << kmer << " of " << wanted;
        EXPECT_EQ(found.size(), expected.size());
      }
    }
  }
}

TEST(sequence_files, a_fault_in_a_part_has_its_line_of_the_file) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += ">s\nACGTACGT\n";
  text += "AC?T\n";
  const scratch_file bad("bad.fa", text);
  for (const std::uint64_t wanted : {1U, 20U}) {
    std::string message;
    for (const text_part& p : parts_of({bad.path()}, wanted, 1)) {
      std::vector<std::uint8_t> bases;
      try {
        read_part(bad.path(), p, 5, bases);
      } catch (const error& e) {
        message = e.what();
      }
    }
    EXPECT_NE(message.find("bad.fa:201: '?' is no base"), std::string::npos) << message;
  }
  const std::string whole = gzip(text.substr(0, 1200));
  const scratch_file cut("cut.fa.gz", std::string_view(whole).substr(0, whole.size() / 2));
  std::vector<std::uint8_t> bases;
  EXPECT_THROW(read_file(cut.path(), bases), error);
  EXPECT_THROW(parts_of({"/no/such/file"}, 1), error);
}

}  // namespace
}  // namespace shoal::kernels::kmers
