// SPDX-License-Identifier: Apache-2.0
#include "files/array_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "files/npy_header.hpp"
#include "files/part.hpp"
#include "shoal/error.hpp"

namespace {

using namespace shoal;
using files::array_file;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span{text}); }

array_file read_back(const array_file& f, const std::string& header) {
  return files::read_header("a", f.format, bytes(header), f.file_bytes(), f.type);
}

template <class F>
std::string refusal(F&& f, errc code = errc::bad_input) {
  try {
    f();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

TEST(array_file, headers_say_what_was_planned) {
  for (const char* path : {"a.shoal", "a.npy"}) {
    for (const std::uint64_t rows : {0, 1, 1000, 3'000'000}) {
      const array_file f = files::plan_file(path, {'f', 8}, rows * 7, {.shape = {rows, 7}});
      const std::string header = files::header_of(f);
      EXPECT_EQ(header.size(), f.data_offset);
      const array_file got = read_back(f, header);
      EXPECT_EQ(got.type, f.type);
      EXPECT_EQ(got.size, f.size);
      EXPECT_EQ(got.dimensions, 2U);
      EXPECT_EQ(got.shape, f.shape);
      EXPECT_EQ(got.blocks(), f.blocks());
      EXPECT_EQ(got.data_offset, f.data_offset);
      EXPECT_EQ(got.file_bytes(), f.file_bytes());
    }
  }
}

TEST(array_file, numpy_headers_are_those_of_numpy) {
  const std::string one = files::npy_header({'f', 8}, std::vector<std::uint64_t>{10});
  EXPECT_EQ(one.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(one.size() % 64, 0U);
  EXPECT_NE(one.find("{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }"), one.npos) << one;
  EXPECT_EQ(one.back(), '\n');
  const std::string two = files::npy_header({'u', 1}, std::vector<std::uint64_t>{3, 4});
  EXPECT_NE(two.find("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }"), two.npos) << two;
}

array_file numpy(const std::string& dictionary, std::uint64_t data_bytes, char version = 1) {
  std::string text = std::string("\x93NUMPY") + version + '\0';
  const std::size_t length = dictionary.size() + 1;
  text += static_cast<char>(length & 0xff);
  text += static_cast<char>(length >> 8);
  if (version > 1) text += std::string(2, '\0');
  text += dictionary + '\n';
  return files::read_header("a.npy", file_format::npy, bytes(text), text.size() + data_bytes, {'V', 1});
}

TEST(array_file, other_writers_dictionaries_are_read) {
  EXPECT_EQ(numpy("{'shape': (2, 3), 'descr': \"<i4\", 'fortran_order': False}", 24).size, 6U);
  EXPECT_EQ(numpy("{ 'descr':'|b1','fortran_order':False,'shape':(5,) , }", 5, 2).type, (file_type{'b', 1}));
  EXPECT_EQ(numpy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, 3).size, 1U);
  EXPECT_EQ(numpy("{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}", 12).size, 3U);
  EXPECT_EQ(numpy("{'descr': '|V12', 'fortran_order': False, 'shape': (3,)}", 36).type, (file_type{'V', 12}));
}

TEST(array_file, what_a_numpy_header_may_not_say_is_refused) {
  const auto says = [](const std::string& dictionary, std::uint64_t data_bytes = 8) {
    return refusal([&] { numpy(dictionary, data_bytes); });
  };
  EXPECT_NE(says("{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}").find("big-endian"), std::string::npos);
  EXPECT_NE(says("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1)}").find("Fortran"), std::string::npos);
  EXPECT_NE(says("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}").find("several fields"),
            std::string::npos);
  EXPECT_NE(says("{'descr': '<f8', 'fortran_order': False}").find("lacks"), std::string::npos);
  EXPECT_NE(says("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}").find("truncated"), std::string::npos);
  EXPECT_NE(says("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 9).find("would have"), std::string::npos);
  EXPECT_NE(says("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2)}").find("larger"),
            std::string::npos);
  EXPECT_NE(says("{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}").find("type"), std::string::npos);
  EXPECT_NE(refusal([] {
              files::read_header("a.npy", file_format::npy, bytes("x"), 1, {'V', 1});
            }).find("not a NumPy"),
            std::string::npos);
}

TEST(array_file, every_changed_byte_of_a_header_is_noticed) {
  const array_file f = files::plan_file("a.shoal", {'u', 4}, 1000, {});
  const std::string header = files::header_of(f);
  for (std::size_t i = 0; i < 128; ++i) {
    std::string wrong = header;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x10);
    const std::string said = refusal([&] { read_back(f, wrong); });
    EXPECT_TRUE(said.starts_with("a ")) << i << ": " << said;
  }
  EXPECT_NE(refusal([&] { read_back(f, header.substr(0, 200)); }).find("truncated"), std::string::npos);
  const auto of_size = [&](std::uint64_t size) {
    return refusal([&] { files::read_header("a", f.format, bytes(header), size, f.type); });
  };
  EXPECT_NE(of_size(f.file_bytes() - 1).find("truncated"), std::string::npos);
  EXPECT_NE(of_size(f.file_bytes() + 1).find("would have"), std::string::npos);
}

TEST(array_file, a_checksum_depends_on_contents_block_and_file) {
  const array_file f = files::plan_file("a.shoal", {'u', 1}, 100, {});
  const array_file other = files::plan_file("a.shoal", {'u', 1}, 100, {});
  const std::string data(100, 'x');
  std::string changed = data;
  changed[50] ^= 1;
  EXPECT_EQ(f.checksum(3, bytes(data)), f.checksum(3, bytes(data)));
  EXPECT_NE(f.checksum(3, bytes(data)), f.checksum(3, bytes(changed)));
  EXPECT_NE(f.checksum(3, bytes(data)), f.checksum(4, bytes(data)));
  EXPECT_NE(f.checksum(3, bytes(data)), other.checksum(3, bytes(data)));
}

TEST(array_file, plans_that_cannot_be_are_refused) {
  const auto plan = [](const char* path, std::uint64_t size, const save_options& o) {
    return refusal([&] { files::plan_file(path, {'f', 8}, size, o); }, errc::invalid_argument);
  };
  EXPECT_NE(plan("a.txt", 10, {}).find(".npy"), std::string::npos);
  EXPECT_NE(plan("a.npy", 10, {.shape = {3, 3}}).find("9 elements and the array 10"), std::string::npos);
  EXPECT_NE(plan("a.npy", 1, {.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}}).find("at most 8"), std::string::npos);
  EXPECT_NE(plan("a.npy", 0, {.shape = {1ULL << 40, 1ULL << 40}}).find("larger"), std::string::npos);
  EXPECT_NE(plan("a.raw", 1ULL << 62, {}).find("larger"), std::string::npos);
  EXPECT_EQ(files::plan_file("a", {'f', 8}, 1, {.format = file_format::raw}).data_offset, 0U);
}

TEST(array_file, elements_larger_than_a_block_have_blocks_of_their_own) {
  const array_file f = files::plan_file("a.shoal", {'V', 6 << 20}, 3, {});
  EXPECT_EQ(f.blocks(), 3U);
  EXPECT_EQ(f.elements_of(2), 1U);
  EXPECT_EQ(read_back(f, files::header_of(f)).blocks(), 3U);
}

// Every block is some node's, and only one's.
TEST(array_file, nodes_share_the_blocks) {
  const auto check = [](const detail::array_layout& layout, std::uint32_t element_bytes) {
    const files::part p{layout, files::plan_file("a.shoal", {'V', element_bytes}, layout.size, {})};
    std::vector<int> written(p.file.blocks());
    std::uint64_t bytes = 0;
    for (std::uint32_t n = 0; n < layout.nodes; ++n) {
      const auto share = files::share_of(p, n);
      bytes += files::bytes_of(share, p.file);
      for (std::uint64_t b = share.first; b < share.end; ++b) ++written.at(b);
    }
    EXPECT_EQ(written, std::vector<int>(written.size(), 1)) << layout.size;
    EXPECT_EQ(bytes, layout.size * element_bytes);
  };
  for (const auto kind : {distribution::partition, distribution::local, distribution::remote, distribution::cyclic,
                          distribution::block_cyclic})
    for (const std::uint32_t nodes : {1U, 2U, 3U, 7U, 64U})
      for (const std::uint64_t size : {1ULL, 63ULL, 64ULL, 1000ULL, 4097ULL, 100'000ULL})
        for (const std::uint32_t element_bytes : {8U, 100'000U})
          check(detail::array_layout::make(kind, size, element_bytes, nodes / 2, nodes, 0, 10), element_bytes);
}

}  // namespace
