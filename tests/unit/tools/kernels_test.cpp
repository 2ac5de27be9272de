// SPDX-License-Identifier: Apache-2.0
// The subcommands of kernels as a user meets them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::run_command;

struct kernel {
  const char* name;
  const char* small;  // options of a small problem
};

class kernel_commands : public testing::TestWithParam<kernel> {};

INSTANTIATE_TEST_SUITE_P(
    all, kernel_commands,
    testing::Values(kernel{"histogram", "--table-mb 1 --updates 100000"},
                    kernel{"gather", "--table-mb 1 --reads 100000"}, kernel{"randperm", "--numbers 100000"},
                    kernel{"permute", "--rows 3000"}, kernel{"transpose", "--rows 3000"},
                    kernel{"toposort", "--rows 3000"}, kernel{"sort", "--keys 100000 --type f64"},
                    kernel{"pagerank", "--kronecker 9"}, kernel{"cc", "--uniform 9 --edge-factor 1"},
                    kernel{"walk", "--uniform 9 --length 10"}, kernel{"sssp", "--kronecker 9"},
                    kernel{"tc", "--kronecker 8"}, kernel{"hashmap", "--pool 2000 --tasks 50 --length 40"},
                    kernel{"kmers", "--genome 3000 --coverage 5"}, kernel{"uts", "--tree T1 --levels 6"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(kernel_commands, measure_and_validate_in_all_forms) {
  for (const std::string form : {"fast", "simple"})
    for (const std::string job : {"-w 2", "-n 2 -w 1", "-n 2 -w 1 --transport inproc --direct off"}) {
      const std::string arguments =
          std::string(GetParam().name) + " " + GetParam().small + " --repeat 2 --json - --form " + form + " " + job;
      const answer got = run_command(arguments, "2>/dev/null");
      ASSERT_EQ(got.status, 0) << arguments << got.text;
      const auto object = nlohmann::json::parse(got.text);
      EXPECT_EQ(object.at("checks").at("validated"), true) << arguments;
      EXPECT_EQ(object.at("metrics").at("rate").at("values").size(), 2U) << arguments;
      EXPECT_GT(object.at("metrics").at("time_s").at("median"), 0.0) << arguments;
      EXPECT_GT(object.at("metrics").at("construction_s").at("median"), 0.0) << arguments;
      EXPECT_EQ(object.at("parameters").at("form"), form);
    }
}

TEST_P(kernel_commands, refuse_bad_input) {
  const std::string name = GetParam().name;
  for (const std::string wrong : {"--form medium", "--repeat 0", "--no-such-option"}) {
    const answer got = run_command(name + " " + wrong);
    EXPECT_EQ(got.status, 2) << name << " " << wrong << got.text;
  }
}

TEST(bale_commands, refuse_bad_sizes) {
  for (const std::string wrong : {"gather --table-mb 0", "gather --reads 0", "gather --reads many",
                                  "randperm --numbers 0", "randperm --numbers -5", "permute --rows 0",
                                  "permute --per-row 0", "transpose --rows 4294967296", "toposort --per-row 2000000"}) {
    const answer got = run_command(wrong + " -w 1");
    EXPECT_EQ(got.status, 2) << wrong << got.text;
  }
}

TEST(bale_commands, refuse_what_does_not_fit_into_memory) {
  for (const std::string large : {"gather --reads 1099511627776", "randperm --numbers 1099511627776",
                                  "permute --rows 4000000000 --per-row 1000", "toposort --rows 4000000000"}) {
    const answer got = run_command(large + " -w 1");
    EXPECT_EQ(got.status, 1) << large << got.text;
    EXPECT_NE(got.text.find("of memory"), std::string::npos) << got.text;
  }
}

TEST(sort_command, sorts_all_types_and_data_sets) {
  for (const std::string type : {"u32", "i64", "f32"})
    for (const std::string entropy : {"0", "3", "5"}) {
      const answer got = run_command(
          "sort --keys 50000 --repeat 1 -w 2 --json - --type " + type + " --entropy " + entropy, "2>/dev/null");
      ASSERT_EQ(got.status, 0) << type << got.text;
      EXPECT_EQ(nlohmann::json::parse(got.text).at("checks").at("validated"), true) << type << ", " << entropy;
    }
  for (const std::string wrong : {"--keys 0", "--type u16", "--entropy 6"})
    EXPECT_EQ(run_command("sort " + wrong).status, 2) << wrong;
}

TEST(graph_commands, refuse_what_is_no_graph) {
  for (const std::string name : {"pagerank", "cc", "walk", "sssp", "tc"})
    for (const std::string wrong :
         {"", "--kronecker 5 --uniform 5", "--kronecker 32", "/no/such/file", "--kronecker 5 --compact-ids"}) {
      const answer got = run_command(name + " " + wrong + " -w 1");
      EXPECT_EQ(got.status, 2) << name << " " << wrong << got.text;
    }
}

TEST(graph_commands, refuse_what_does_not_fit_into_memory) {
  for (const std::string name : {"pagerank", "cc", "walk", "sssp", "tc"}) {
    const answer got = run_command(name + " --kronecker 31 --edge-factor 16000 -w 1");
    EXPECT_EQ(got.status, 1) << name << got.text;
    EXPECT_NE(got.text.find("iB of memory"), std::string::npos) << got.text;
  }
}

TEST(graph_commands, read_files) {
  const std::string file = std::string(SHOAL_SOURCE_DIR) + "/data/debian-bookworm.txt.zst";
  for (const std::string name : {"pagerank", "cc", "walk", "sssp", "tc"}) {
    const answer got = run_command(name + " " + file + " --repeat 1 -n 2 -w 1 --json -", "2>/dev/null");
    ASSERT_EQ(got.status, 0) << got.text;
    EXPECT_EQ(nlohmann::json::parse(got.text).at("checks").at("validated"), true) << name;
  }
}

/// A file that ends with the test.
class input_file {
public:
  input_file(const std::string& name, const std::string& text) : path_(testing::TempDir() + name) {
    std::ofstream(path_) << text;
  }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file() { std::filesystem::remove(path_); }
  const std::string& path() const noexcept { return path_; }

private:
  std::string path_;
};

TEST(graph_commands, read_weights) {
  const input_file lengths("shoal_weights.txt", "0 1 2.5\n1 2 0.25\n0 2 7\n");
  for (const std::string form : {"fast", "simple"}) {
    const answer got = run_command(
        "sssp " + lengths.path() + " --source 0 --repeat 1 -n 2 -w 1 --json - --form " + form, "2>/dev/null");
    ASSERT_EQ(got.status, 0) << got.text;
    const auto object = nlohmann::json::parse(got.text);
    EXPECT_EQ(object.at("checks").at("validated"), true);
    EXPECT_EQ(object.at("parameters").at("weights"), "of the file");
  }
  const input_file pattern("shoal_pattern.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
  EXPECT_EQ(run_command("sssp " + pattern.path() + " -w 1").status, 0);
}

TEST(graph_commands, refuse_bad_weights) {
  for (const std::string bad : {"0 1 2\n1 2 -0.5\n", "0 1 2\n1 2 inf\n", "0 1 2\n1 2 nan\n", "0 1 2\n1 2 heavy\n"}) {
    const input_file file("shoal_bad_weights.txt", bad);
    const answer got = run_command("sssp " + file.path() + " -w 1");
    EXPECT_EQ(got.status, 2) << bad << got.text;
  }
  const input_file complex("shoal_complex.mtx",
                           "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1.5 2\n");
  EXPECT_EQ(run_command("sssp " + complex.path() + " --weights random -w 1").status, 0);
  for (const std::string wrong : {"--weights heavy", "--delta -1", "--delta 0", "--source no_such"})
    EXPECT_EQ(run_command("sssp --kronecker 5 -w 1 " + wrong).status, 2) << wrong;
}

TEST(hashmap_command, reads_words_and_refuses_what_is_none) {
  const input_file words("shoal_words.txt", "live\n\nevil\nlevel\n");
  const answer got = run_command("hashmap --words " + words.path() + " --tasks 10 --length 10 -n 2 -w 1");
  EXPECT_EQ(got.status, 0) << got.text;
  const input_file nothing("shoal_no_words.txt", "\n\n");
  const input_file long_word("shoal_long_word.txt", std::string(2000, 'a') + "\n");
  for (const std::string& bad : {nothing.path(), long_word.path(), std::string("/no/such/file")})
    EXPECT_EQ(run_command("hashmap -w 1 --words " + bad).status, 2) << bad;
  for (const std::string wrong : {"--pool 0", "--tasks 0", "--length -1"})
    EXPECT_EQ(run_command("hashmap -w 1 " + wrong).status, 2) << wrong;
}

TEST(kmers_command, reads_files_and_refuses_what_is_none) {
  const std::string reads = SHOAL_SOURCE_DIR "/data/reads.fastq.gz";
  const input_file genome("shoal_genome.fa", ">one\nACGTACGTAA\nNNACGT\n>two\nTTACGT\n");
  // 7 + 1 + 3 windows of 4 bases, of which ACGT, its own mirror, is there four times.
  const answer got = run_command("kmers -k 4 --repeat 1 --json - -n 2 -w 1 " + genome.path(), "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto metrics = nlohmann::json::parse(got.text).at("metrics");
  EXPECT_EQ(metrics.at("total").at("median"), 11.0);
  EXPECT_EQ(metrics.at("ACGT").at("median"), 4.0);
  EXPECT_EQ(run_command("kmers -w 2 -k 21 --form simple " + reads + " " + genome.path()).status, 0);
  const input_file empty("shoal_empty.fa", "");
  const input_file other("shoal_other.fa", "once upon a time\n");
  const input_file quality("shoal_quality.fq", "@r\nACGT\n+\nIII\n");
  for (const std::string& bad :
       {empty.path(), other.path(), quality.path(), std::string("/no/such/file"), genome.path() + " -k 31",
        genome.path() + " -k 33", std::string("-k 0"), std::string("--read-length 20"), std::string("--genome 100")})
    EXPECT_EQ(run_command("kmers -w 1 -n 2 " + bad).status, 2) << bad;
}

TEST_P(kernel_commands, can_leave_the_check_out) {
  const answer got = run_command(
      std::string(GetParam().name) + " " + GetParam().small + " --repeat 1 --no-validate -w 1 --json -", "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_FALSE(nlohmann::json::parse(got.text).at("checks").contains("validated"));
}

}  // namespace
