// SPDX-License-Identifier: Apache-2.0
#include "graph/matrix_market.hpp"

#include "input.hpp"

namespace shoal::graph {
namespace {

using namespace test;

std::string with(std::string_view kind, std::string_view rest) {
  return std::string("%%MatrixMarket matrix coordinate ") + std::string(kind) + "\n" + std::string(rest);
}

TEST(MatrixMarket, EveryFieldAndSymmetry) {
  struct sample {
    const char* kind;
    const char* value;
    bool directed;
  };
  for (const sample s :
       {sample{"pattern general", "", true}, sample{"pattern symmetric", "", false},
        sample{"real general", " 1.5", true}, sample{"real symmetric", " -1e-3", false},
        sample{"real skew-symmetric", " +2", false}, sample{"integer general", " -7", true},
        sample{"integer symmetric", " 0", false}, sample{"integer skew-symmetric", " 1", false},
        sample{"complex general", " 1 2", true}, sample{"complex symmetric", " 1 2.5", false},
        sample{"complex skew-symmetric", " 1 -2", false}, sample{"complex hermitian", " 1 0", false}}) {
    const std::string v = s.value;
    const edge_list graph = read_text(with(s.kind, "3 3 2\n2 1" + v + "\n3 2" + v + "\n"), "a.mtx");
    EXPECT_EQ(graph.list, (edges{{1, 0}, {2, 1}})) << s.kind;
    EXPECT_EQ(graph.vertices, 3u);
    EXPECT_EQ(graph.edges, 2u);
    EXPECT_EQ(graph.directed, s.directed) << s.kind;
    EXPECT_TRUE(graph.names.empty());
    EXPECT_TRUE(graph.remarks.empty());
  }
}

TEST(MatrixMarket, CommentsBlanksCaseAndLineEnds) {
  const edge_list graph = read_text(
      "%%MatrixMarket MATRIX Coordinate Pattern General\r\n% a comment\r\n%\r\n\r\n 3\t3  2 \r\n\r\n1 2\r\n% more\r\n  "
      "3 3\r\n\r\n",
      "a.mtx");
  EXPECT_EQ(graph.list, (edges{{0, 1}, {2, 2}}));
}

TEST(MatrixMarket, IsKnownByContentAndCompressed) {
  const std::string text = with("pattern general", "2 2 1\n1 2\n");
  EXPECT_EQ(read_text(text, "graph.txt").list, (edges{{0, 1}}));
  EXPECT_EQ(read_text(gzip(text), "graph.mtx.gz").list, (edges{{0, 1}}));
  EXPECT_EQ(read_text(zstd(text), "graph.mtx.zst").list, (edges{{0, 1}}));
}

TEST(MatrixMarket, NothingInIt) {
  EXPECT_EQ(read_text(with("pattern general", "5 5 0\n"), "a").vertices, 5u);
  EXPECT_EQ(read_text(with("pattern general", "0 0 0\n"), "a").vertices, 0u);
}

TEST(MatrixMarket, LastLineWithoutEndIsRemarked) {
  EXPECT_EQ(read_text(with("pattern general", "2 2 1\n1 2"), "a").remarks,
            (std::vector<std::string>{"a: the last line has no end; the file may be truncated"}));
}

struct bad_matrix {
  const char* text;
  const char* message;
};

TEST(MatrixMarket, BadBanners) {
  for (const bad_matrix b :
       {bad_matrix{"%%MatrixMarketx matrix coordinate real general\n", "a:1: the first word must be %%MatrixMarket"},
        bad_matrix{"%%MatrixMarket\n", "a:1: the object (matrix) is missing"},
        bad_matrix{"%%MatrixMarket vector coordinate real general\n",
                   "a:1: the object 'vector' is not known; it must be matrix"},
        bad_matrix{"%%MatrixMarket matrix array real general\n",
                   "a:1: the matrix is dense (array); a graph needs the coordinate format"},
        bad_matrix{"%%MatrixMarket matrix sparse real general\n",
                   "a:1: the format 'sparse' is not known; it must be coordinate"},
        bad_matrix{"%%MatrixMarket matrix coordinate quaternion general\n",
                   "a:1: the field 'quaternion' is not known; it must be pattern, real, integer or complex"},
        bad_matrix{"%%MatrixMarket matrix coordinate real\n",
                   "a:1: the symmetry (general, symmetric, skew-symmetric or hermitian) is missing"},
        bad_matrix{"%%MatrixMarket matrix coordinate real odd\n",
                   "a:1: the symmetry 'odd' is not known; it must be general, symmetric, skew-symmetric or hermitian"},
        bad_matrix{"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
                   "a:1: a pattern cannot be skew-symmetric"},
        bad_matrix{"%%MatrixMarket matrix coordinate real hermitian\n", "a:1: only a complex matrix can be hermitian"},
        bad_matrix{"%%MatrixMarket matrix coordinate real general x\n", "a:1: 'x' follows the banner; nothing should"},
        bad_matrix{"%%MatrixMarket matrix coordinate real general\n% c\n",
                   "a: is truncated: the line with rows, columns and entries is missing"}}) {
    EXPECT_EQ(refused(b.text, "a"), b.message);
  }
  EXPECT_EQ(refused("1 1 0\n", "a.mtx"), "a.mtx:1: a Matrix Market file begins with %%MatrixMarket");
}

TEST(MatrixMarket, BadSizes) {
  for (const bad_matrix b : {
           bad_matrix{"3 4 1\n1 1\n", "a:2: the matrix is 3 x 4; a graph needs a square one"},
           bad_matrix{"3 3\n", "a:2: the number of entries is missing"},
           bad_matrix{"-3 3 1\n", "a:2: the number of rows is negative: '-3'"},
           bad_matrix{"3 3 -1\n", "a:2: the number of entries is negative: '-1'"},
           bad_matrix{"3 3 1 9\n", "a:2: '9' follows the sizes; nothing should"},
           bad_matrix{"3 3 99999999999999999999\n",
                      "a:2: the number of entries does not fit in 64 bits: '99999999999999999999'"},
           bad_matrix{
               "99 99 1000\n1 1\n",
               "a:2: 1000 entries are announced; a file of 64 bytes cannot hold them: it is truncated or the size is "
               "wrong"},
           bad_matrix{
               "3 3 18446744073709551615\n1 1\n",
               "a:2: 18446744073709551615 entries are announced; a file of 78 bytes cannot hold them: it is truncated "
               "or the "
               "size is wrong"},
           bad_matrix{"1 1 2\n1 1\n1 1\n", "a:2: 2 entries are announced; a matrix of 1 x 1 has no room for them"},
           bad_matrix{"0 0 1\n1 1\n", "a:2: 1 entries are announced; a matrix of 0 x 0 has no room for them"},
           bad_matrix{"999999999999999999 999999999999999999 1\n1 1\n",
                      "a:2: 999999999999999999 vertices are more than any machine holds (at most 281474976710656)"},
       }) {
    EXPECT_EQ(refused(with("pattern general", b.text), "a"), b.message);
  }
}

TEST(MatrixMarket, PromisesOfCompressedFilesAreMeasuredByMemory) {
  const std::string text = with("pattern general", "1000000000 1000000000 2000000000\n1 1\n");
  EXPECT_EQ(refused(gzip(text), "a.gz", {.memory_limit_bytes = 8'000'000'000}, errc::out_of_memory),
            "a.gz:2: 1000000000 vertices and 2000000000 edges need about 40 GB; there are 8 GB: use more nodes or less "
            "of it");
  EXPECT_EQ(refused(gzip(text), "a.gz"), "a.gz: is truncated: 2000000000 entries are announced, it ends after 1");
}

TEST(MatrixMarket, BadEntries) {
  for (const bad_matrix b :
       {bad_matrix{"3 3 2\n1 1\n", "a: is truncated: 2 entries are announced, it ends after 1"},
        bad_matrix{"3 3 1\n1 1\n2 2\n", "a:4: '2 2' follows the 1 entries that are announced; nothing should"},
        bad_matrix{"3 3 1\n0 1\n", "a:3: vertex 0 is out of range: the header allows 1 to 3"},
        bad_matrix{"3 3 1\n1 4\n", "a:3: vertex 4 is out of range: the header allows 1 to 3"},
        bad_matrix{"3 3 1\n4 0\n", "a:3: vertex 4 is out of range: the header allows 1 to 3"},
        bad_matrix{"3 3 1\n-1 1\n", "a:3: the row is negative: '-1'"},
        bad_matrix{"3 3 1\nx 1\n", "a:3: the row is not a whole number: 'x'"},
        bad_matrix{"3 3 1\n1   \n", "a:3: the column is missing"},
        bad_matrix{"3 3 1\n% c\n\n1 1 5\n", "a:5: '5' follows the entry; nothing should"}}) {
    EXPECT_EQ(refused(with("pattern general", b.text), "a"), b.message);
  }
  EXPECT_EQ(refused(with("real general", "3 3 1\n1 1 x\n"), "a"), "a:3: the value is not a number: 'x'");
  EXPECT_EQ(refused(with("real general", "3 3 1\n1 1   \n"), "a"), "a:3: the value is missing");
  EXPECT_EQ(refused(with("integer general", "3 3 1\n1 1 1.5\n"), "a"), "a:3: the value is not an integer: '1.5'");
  EXPECT_EQ(refused(with("complex general", "3 3 1\n1 1 1.5\n"), "a"), "a:3: the value is missing");
  EXPECT_EQ(refused(with("real skew-symmetric", "3 3 1\n2 2 1\n"), "a"),
            "a:3: a skew-symmetric matrix has no entries on its diagonal");
}

}  // namespace
}  // namespace shoal::graph
