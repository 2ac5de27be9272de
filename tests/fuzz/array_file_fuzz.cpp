// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of arrays' headers (.shoal, .npy, .raw). The first byte chooses the format and whether
// the checksum of a .shoal header is corrected first. An accepted header must agree with the file's size, and its shape
// with its elements; a rejected one must throw bad_input with the file's name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "files/array_file.hpp"
#include "shoal/error.hpp"

namespace {

constexpr std::size_t k_checksum_at = 120;  // of a .shoal header

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "array_file_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal;
  if (size == 0) return 0;
  const file_format formats[] = {file_format::shoal, file_format::npy, file_format::raw};
  const file_format format = formats[(data[0] & 0x3f) % 3];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 0x40) != 0 && bytes.size() >= k_checksum_at + 8) {
    const std::uint64_t right = files::header_checksum(std::as_bytes(std::span{bytes}));
    std::memcpy(bytes.data() + k_checksum_at, &right, sizeof right);
  }
  const auto begin = std::as_bytes(std::span{bytes}).first(std::min(bytes.size(), files::k_most_header_bytes));
  try {
    const auto file = files::read_header("name", format, begin, bytes.size(), {'u', 4});
    expect(file.file_bytes() == bytes.size(), "the size that the header announces");
    std::uint64_t product = 1;
    for (const std::uint64_t extent : file.extents()) product *= extent;
    expect(product == file.size, "a shape of as many elements");
    expect(file.type.bytes > 0 && file.blocks() <= bytes.size(), "blocks that have bytes");
    for (std::uint64_t b = 0; b < file.blocks(); ++b)
      expect(file.offset_of(b) + file.elements_of(b) * file.type.bytes <= bytes.size(), "blocks within the file");
  } catch (const error& e) {
    expect(e.code() == errc::bad_input, "the code of bad input");
    expect(std::string_view{e.what()}.starts_with("name "), "the file's name in the message");
    for (const char* c = e.what(); *c != '\0'; ++c) expect(*c >= ' ' && *c <= '~', "a message that can be printed");
  }
  return 0;
}
