// SPDX-License-Identifier: Apache-2.0
#include "graph/csr_file.hpp"

#include <cstring>

#include "graph/csr_layout.hpp"
#include "input.hpp"
#include "shoal/graph/kronecker.hpp"

namespace shoal::graph {
namespace {

using namespace test;

edge_list small() {
  edge_list graph;
  graph.vertices = 4;
  graph.edges = 3;
  graph.directed = true;
  graph.names = {"a", "bb", "c c", "d"};
  graph.list = {{0, 1}, {0, 3}, {2, 2}};
  return graph;
}

std::string written(const edge_list& graph) {
  const scratch_file file("a.shoalcsr");
  write_csr_file(file.path(), graph);
  return file.content();
}

/// The header with its checksum made right again, so that what is behind it is tested.
std::string with_header(std::string bytes, std::size_t at, std::uint64_t value, std::size_t width = 8) {
  std::memcpy(bytes.data() + at, &value, width);
  const std::uint32_t sum = crc(0, std::as_bytes(std::span{bytes}.first(60)));
  std::memcpy(bytes.data() + 60, &sum, sizeof sum);
  return bytes;
}

/// The same for the payload.
std::string with_payload(std::string bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  std::memcpy(bytes.data() + at, &value, width);
  const std::uint32_t sum = crc(0, std::as_bytes(std::span{bytes}.subspan(64, bytes.size() - 68)));
  std::memcpy(bytes.data() + bytes.size() - 4, &sum, sizeof sum);
  return bytes;
}

TEST(CsrFile, WritesAndReadsBack) {
  const edge_list graph = small();
  const std::string bytes = written(graph);
  EXPECT_EQ(bytes.size(), 64u + 5 * 8 + 3 * 4 + 11 + 4);
  for (const std::string& stored : {bytes, gzip(bytes), zstd(bytes)}) {
    const edge_list back = read_text(stored, "a");
    EXPECT_EQ(back.list, graph.list);
    EXPECT_EQ(back.vertices, 4u);
    EXPECT_EQ(back.edges, 3u);
    EXPECT_TRUE(back.directed);
    EXPECT_EQ(back.names, graph.names);
  }
}

TEST(CsrFile, RowsComeBackAsTheyWere) {
  const edge_list graph = generate_all(kronecker(12, 16, 5));
  const auto rows = build_csr<std::uint64_t>(graph.list, graph.vertices, 0, graph.vertices);
  const scratch_file file("a.shoalcsr");
  write_csr_file(file.path(), rows, graph);  // 64-bit targets
  const csr_graph back = read_csr_file(file.path());
  EXPECT_EQ(back.rows.offsets, rows.offsets);
  EXPECT_EQ(back.rows.targets, rows.targets);
  EXPECT_EQ(back.rows.last, graph.vertices);
  EXPECT_FALSE(back.directed);
  EXPECT_TRUE(back.names.empty());
  EXPECT_EQ(read_graph(file.path()).list.size(), graph.list.size());
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
}

TEST(CsrFile, LayoutIsWhatTheHeaderSays) {
  const std::string bytes = written(small());
  const unsigned char head[] = {'S', 'H', 'O', 'A', 'L', 'C', 'S', 'R', 1, 0, 0, 0, 4, 3, 2, 1, 5, 0, 0, 0, 0,
                                0,   0,   0,   4,   0,   0,   0,   0,   0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 11};
  EXPECT_EQ(std::memcmp(bytes.data(), head, sizeof head), 0);
  EXPECT_EQ(bytes.substr(116, 11), std::string("a\0bb\0c c\0d\0", 11));
}

TEST(CsrFile, EmptyGraph) {
  edge_list nothing;
  EXPECT_EQ(read_text(written(nothing), "a").vertices, 0u);
  nothing.vertices = 3;
  EXPECT_EQ(read_text(written(nothing), "a").vertices, 3u);
}

TEST(CsrFile, EveryTruncationIsRefused) {
  const std::string bytes = written(small());
  for (std::size_t cut = 8; cut < bytes.size(); ++cut) {
    const std::string plain = refused(bytes.substr(0, cut), "a");
    EXPECT_TRUE(plain.starts_with("a: is truncated")) << cut << plain;
    const std::string compressed = refused(zstd(bytes.substr(0, cut)), "a");
    EXPECT_TRUE(compressed.starts_with("a: is truncated")) << cut << compressed;
  }
  EXPECT_EQ(refused(bytes.substr(0, 5), "a.shoalcsr"),
            "a.shoalcsr: is named .shoalcsr but does not begin like one; it is corrupt or wrongly named");
}

TEST(CsrFile, EveryFlippedBitIsRefused) {
  const std::string bytes = written(small());
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(refused(broken, "a").empty()) << at;
  }
}

TEST(CsrFile, TrailingGarbage) {
  const std::string bytes = written(small());
  EXPECT_EQ(refused(bytes + "x", "a"),
            "a: unexpected data follows the end of the graph: the header announces 4 vertices, 3 edges and 11 bytes of "
            "names, which "
            "take 131 bytes; the file has 132");
  EXPECT_EQ(refused(gzip(bytes + "x"), "a"), "a: unexpected data follows the end of the graph");
}

TEST(CsrFile, HeadersThatLie) {
  const std::string bytes = written(small());
  std::string broken = bytes;
  broken[61] = static_cast<char>(broken[61] ^ 1);
  EXPECT_EQ(refused(broken, "a"), "a: is corrupt: the checksum of the header does not match");
  EXPECT_EQ(refused(with_header(bytes, 8, 2, 4), "a"), "a: is of version 2; this program reads version 1");
  EXPECT_EQ(refused(with_header(bytes, 12, 0x04030201, 4), "a"),
            "a: is written with the other byte order; only little endian is read");
  EXPECT_EQ(refused(with_header(bytes, 12, 0, 4), "a"), "a: is corrupt: the byte order mark is wrong");
  EXPECT_EQ(refused(with_header(bytes, 16, 9), "a"),
            "a: has flags that this program does not know (0x9); it needs a newer one");
  EXPECT_EQ(refused(with_header(bytes, 50, 1, 1), "a"),
            "a: has flags that this program does not know (0x5); it needs a newer one");
  EXPECT_EQ(refused(with_header(bytes, 16, 1), "a"), "a: has bytes of names but declares no names");
  EXPECT_EQ(refused(with_header(bytes, 32, ~std::uint64_t{0}), "a"),
            "a: the header announces 4 vertices, 18446744073709551615 edges and 11 bytes of names; this is more than "
            "any machine can hold");
  EXPECT_EQ(
      refused(with_header(bytes, 24, 1'000'000'000), "a"),
      "a: is truncated: the header announces 1000000000 vertices, 3 edges and 11 bytes of names, which take 8000000099 "
      "bytes; the file has 131");
  EXPECT_EQ(refused(gzip(with_header(bytes, 24, 1'000'000'000)), "a", {.memory_limit_bytes = 1'000'000'000},
                    errc::out_of_memory),
            "a: 1000000000 vertices and 3 edges need about 8 GB; there are 1 GB: use more nodes or less of it");
}

TEST(CsrFile, PayloadsThatLie) {
  const std::string bytes = written(small());  // offsets 0 2 2 3 3
  EXPECT_EQ(refused(with_payload(bytes, 64, 1, 8), "a"), "a: the offset of row 0 is 1; it must lie between 0 and 0");
  EXPECT_EQ(refused(with_payload(bytes, 64 + 8, 9, 8), "a"),
            "a: the offset of row 1 is 9; it must lie between 0 and 3");
  EXPECT_EQ(refused(with_payload(bytes, 64 + 16, 1, 8), "a"),
            "a: the offset of row 2 is 1; it must lie between 2 and 3");
  std::string fewer = with_payload(bytes, 64 + 24, 2, 8);
  EXPECT_EQ(refused(with_payload(fewer, 64 + 32, 2, 8), "a"),
            "a: the last offset is 2; it must be the number of edges, 3");
  EXPECT_EQ(refused(with_payload(bytes, 104, 4, 4), "a"), "a: vertex 4 is out of range: the header allows 0 to 3");
  EXPECT_EQ(refused(with_payload(bytes, 117, 'x', 1), "a"), "a: there are 3 names for 4 vertices");
  EXPECT_EQ(refused(with_payload(bytes, 126, 'x', 1), "a"), "a: there are 4 names for 4 vertices");
  std::string broken = bytes;
  broken[118] = 'z';
  EXPECT_EQ(refused(broken, "a"), "a: is corrupt: the checksum does not match what the file holds");
}

// A search that is asked for one of them would begin at either.
TEST(CsrFile, EqualNamesAreRefused) {
  const std::string bytes = written(small());  // names a, bb, c c, d at 116
  const std::string equal = "a: vertices 0 and 3 are both named 'a'; give each vertex a name of its own";
  EXPECT_EQ(refused(with_payload(bytes, 125, 'a', 1), "a"), equal);
  EXPECT_EQ(refused(zstd(with_payload(bytes, 125, 'a', 1)), "a"), equal);
  std::string broken = bytes;  // a wrong checksum says more
  broken[125] = 'a';
  EXPECT_EQ(refused(broken, "a"), "a: is corrupt: the checksum does not match what the file holds");
  edge_list graph = small();
  graph.names[2] = "bb";
  const scratch_file file("a.shoalcsr");
  EXPECT_EQ(refusal([&] { write_csr_file(file.path(), graph); }, errc::invalid_argument),
            "vertices 1 and 2 are both named 'bb'; give each vertex a name of its own");
}

TEST(CsrFile, CannotBeWritten) {
  const scratch_file file("plain");
  EXPECT_EQ(refusal([&] { write_csr_file(file.path() + "/a.shoalcsr", small()); }, errc::system),
            file.path() + "/a.shoalcsr: cannot be created: Not a directory");
  edge_list graph = small();
  graph.names[1] = std::string("b\0b", 3);
  EXPECT_EQ(refusal([&] { write_csr_file(file.path(), graph); }, errc::invalid_argument),
            "the name of a vertex contains a zero byte");
}

TEST(CsrFile, FullDiskLeavesNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const scratch_file file("target", "kept");
  std::filesystem::create_symlink("/dev/full", file.path() + ".part");
  EXPECT_EQ(refusal([&] { write_csr_file(file.path(), small()); }, errc::system),
            file.path() + ": cannot be written: No space left on device");
  EXPECT_EQ(file.content(), "kept");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(file.path() + ".part")));
}

}  // namespace
}  // namespace shoal::graph
