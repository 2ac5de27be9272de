// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "input.hpp"
#include "shoal/detail/graph_file.hpp"
#include "shoal/random.hpp"

namespace shoal::graph {
namespace {

using namespace test;

edges read_in(const std::string& path, std::uint64_t parts, detail::text_counts& counts) {
  const auto all = detail::find_text_edges(path, {});
  EXPECT_TRUE(all.has_value());
  edges list;
  const std::uint64_t bytes = all->end - all->begin;
  for (std::uint64_t i = 0; i < parts; ++i)
    counts = counts.combine(
        detail::read_text_part(path, *all, {all->begin + bytes * i / parts, all->begin + bytes * (i + 1) / parts},
                               [&](std::span<const edge> some) { list.insert(list.end(), some.begin(), some.end()); }));
  return list;
}

TEST(edge_parts, any_division_reads_every_line_once) {
  std::string text = "# a comment\n%\n\n";
  edges expected;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const edge e{splitmix64::at(1, i) % 1000, splitmix64::at(2, i) >> (i % 19 + 45)};
    expected.push_back(e);
    text += (i % 3 == 0 ? " " : "") + std::to_string(e.from) + (i % 2 == 0 ? " " : "\t ") + std::to_string(e.to);
    text += i % 5 == 0 ? " \r\n\n" : "\n";
  }
  for (const bool ended : {true, false}) {
    const scratch_file file("parts.txt", ended ? text : text.substr(0, text.size() - 1));
    const std::string path = file.path();
    for (std::uint64_t parts = 1; parts < 400; parts = parts * 2 + 1) {
      detail::text_counts counts;
      EXPECT_EQ(read_in(path, parts, counts), expected) << parts;
      EXPECT_TRUE(counts.plain);
      EXPECT_EQ(counts.ended, ended);
      EXPECT_EQ(counts.edges, expected.size());
      const edge_list whole = read_graph(path);
      EXPECT_EQ(counts.vertices, whole.vertices);
      const graph_header header = detail::finish_text(path, {}, counts);
      EXPECT_EQ(header.edges, whole.edges);
      EXPECT_EQ(header.remarks, whole.remarks);
    }
  }
}

TEST(edge_parts, what_is_not_plain_is_left_to_the_reader_of_the_whole_file) {
  for (const char* const text : {"0 1\n# later\n1 2\n", "0 1\n1 2 3.5\n", "0 1\n1 x\n", "0 1\n1\n", "0 1\n-1 2\n",
                                 "0 1\n1 99999999999999999999\n", "0 1\n1 999999999999999\n"}) {
    const scratch_file file("bad.txt", text);
    detail::text_counts counts;
    read_in(file.path(), 2, counts);
    EXPECT_FALSE(counts.plain) << text;
  }
  for (const char* const text : {"", "# only\n", "# shoal graph directed vertices 2 edges 1\n0 1\n",
                                 "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n"}) {
    const scratch_file file("other.txt", text);
    EXPECT_FALSE(detail::find_text_edges(file.path(), {}).has_value()) << text;
  }
  const scratch_file plain("a.txt", "0 1\n");
  EXPECT_FALSE(detail::find_text_edges(plain.path(), {.compact_ids = true}).has_value());
  const scratch_file compressed("a.txt.gz", gzip("0 1\n"));
  EXPECT_FALSE(detail::find_text_edges(compressed.path(), {}).has_value());
  EXPECT_FALSE(detail::find_text_edges("/there/is/no/such/file", {}).has_value());
}

TEST(edge_parts, a_file_that_is_not_the_same_everywhere_is_not_plain) {
  const scratch_file file("a.txt", "0 1\n2 3\n");
  const std::string path = file.path();
  const edge_sink none = [](std::span<const edge>) {};
  EXPECT_FALSE(detail::read_text_part(path, {0, 12}, {0, 6}, none).plain);
  EXPECT_FALSE(detail::read_text_part(path + ".absent", {0, 8}, {0, 8}, none).plain);
}

}  // namespace
}  // namespace shoal::graph
