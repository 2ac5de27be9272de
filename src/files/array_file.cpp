// SPDX-License-Identifier: Apache-2.0
#include "files/array_file.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "files/npy_header.hpp"
#include "machine/entropy.hpp"
#include "shoal/error.hpp"

namespace shoal::files {
namespace {

constexpr std::array<char, 8> k_magic{'\x93', 'S', 'H', 'O', 'A', 'L', '\r', '\n'};
constexpr std::uint32_t k_version = 1;

// As it lies in the file.
struct shoal_header {
  std::array<char, 8> magic = k_magic;
  std::uint32_t version = k_version;
  std::uint32_t header_bytes = k_header_bytes;
  std::uint64_t id = 0;
  std::uint32_t kind = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t size = 0;
  std::uint64_t block_elements = 0;
  std::uint32_t dimensions = 0;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, k_most_dimensions> shape{};
  std::uint64_t checksum = 0;

  std::uint64_t right_checksum() const noexcept { return header_checksum(std::as_bytes(std::span(this, 1))); }
};
static_assert(sizeof(shoal_header) == 128 && sizeof(shoal_header) <= k_header_bytes);

[[noreturn]] void refuse_argument(const std::string& path, const std::string& what) {
  throw error(errc::invalid_argument, path + ": " + what);
}

// Whether size * bytes, with checksums and header, is less than files can be.
bool is_possible(std::uint64_t size, std::uint32_t bytes) noexcept {
  constexpr std::uint64_t k_largest_file = std::uint64_t{1} << 62;
  return bytes != 0 && size <= k_largest_file / bytes;
}

std::uint64_t block_elements_of(std::uint32_t element_bytes) noexcept {
  return std::max<std::uint64_t>(k_block_bytes / element_bytes, 1);
}

void read_shoal_header(const std::string& path, std::span<const std::byte> begin, array_file& file) {
  shoal_header h;
  if (begin.size() < k_magic.size() || std::memcmp(begin.data(), k_magic.data(), k_magic.size()) != 0)
    refuse_file(path, "is not a .shoal file: its first bytes are others; shoal::save makes such files");
  if (begin.size() < k_header_bytes) refuse_file(path, "is truncated in its header");
  std::memcpy(&h, begin.data(), sizeof h);
  if (h.version != k_version)
    refuse_file(path, fmt::format("has version {} of the format; {} is known", h.version, k_version));
  if (h.checksum != h.right_checksum())
    refuse_file(path, "is corrupt in its header (bytes 0 to 127): the checksum differs; restore the file from a copy");
  file.type = {static_cast<char>(h.kind), h.element_bytes};
  file.size = h.size;
  file.id = h.id;
  file.block_elements = h.block_elements;
  file.dimensions = h.dimensions;
  file.shape = h.shape;
  file.data_offset = k_header_bytes;
  std::uint64_t product = 1;
  bool fits = h.header_bytes == k_header_bytes && is_possible(h.size, h.element_bytes) &&
              h.block_elements == block_elements_of(h.element_bytes) && h.dimensions <= k_most_dimensions;
  for (std::uint32_t d = 0; fits && d < h.dimensions; ++d) {
    fits = h.shape[d] == 0 || product <= ~std::uint64_t{0} / h.shape[d];
    product *= h.shape[d];
  }
  if (!fits || product != h.size)
    refuse_file(path, "has a header that contradicts itself; was it written by another version of Shoal?");
}

}  // namespace

std::uint64_t header_checksum(std::span<const std::byte> header) noexcept {
  return XXH3_64bits(header.data(), offsetof(shoal_header, checksum));
}

void refuse_file(const std::string& path, const std::string& what) { throw error(errc::bad_input, path + " " + what); }

std::uint64_t array_file::checksum(std::uint64_t block, std::span<const std::byte> data) const noexcept {
  return XXH3_64bits_withSeed(data.data(), data.size(), id + block);
}

file_format format_of(const std::string& path, file_format format) {
  if (format != file_format::by_name) return format;
  if (path.ends_with(".shoal")) return file_format::shoal;
  if (path.ends_with(".npy")) return file_format::npy;
  if (path.ends_with(".raw")) return file_format::raw;
  refuse_argument(path, "the name ends in none of .shoal, .npy and .raw; choose such a name, or name the format");
}

array_file plan_file(const std::string& path, file_type type, std::uint64_t size, const save_options& options) {
  array_file file;
  file.format = format_of(path, options.format);
  file.type = type;
  file.size = size;
  if (!is_possible(size, type.bytes)) refuse_argument(path, "the array is larger than files can be");
  if (options.shape.size() > k_most_dimensions)
    refuse_argument(path, fmt::format("the shape has {} dimensions; at most {} are possible", options.shape.size(),
                                      k_most_dimensions));
  file.shape[0] = size;
  std::uint64_t product = size;
  if (!options.shape.empty()) {
    product = 1;
    file.dimensions = static_cast<std::uint32_t>(options.shape.size());
    std::ranges::copy(options.shape, file.shape.begin());
    for (const std::uint64_t extent : options.shape) {
      if (extent != 0 && product > ~std::uint64_t{0} / extent)
        refuse_argument(path, "the shape is larger than any memory");
      product *= extent;
    }
  }
  if (product != size)
    refuse_argument(path, fmt::format("the shape has {} elements and the array {}; they must agree", product, size));
  file.block_elements = block_elements_of(file.type.bytes);
  std::array<std::byte, 8> id{};
  machine::fill_random(id);
  std::memcpy(&file.id, id.data(), id.size());
  if (file.format == file_format::shoal) file.data_offset = k_header_bytes;
  if (file.format == file_format::npy) file.data_offset = npy_header(type, file.extents()).size();
  return file;
}

std::string header_of(const array_file& file) {
  if (file.format == file_format::npy) return npy_header(file.type, file.extents());
  if (file.format == file_format::raw) return {};
  shoal_header h;
  h.id = file.id;
  h.kind = static_cast<unsigned char>(file.type.kind);
  h.element_bytes = file.type.bytes;
  h.size = file.size;
  h.block_elements = file.block_elements;
  h.dimensions = file.dimensions;
  h.shape = file.shape;
  h.checksum = h.right_checksum();
  std::string bytes(k_header_bytes, '\0');
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

array_file read_header(const std::string& path, file_format format, std::span<const std::byte> begin,
                       std::uint64_t file_bytes, file_type wanted) {
  array_file file;
  file.format = format;
  if (format == file_format::raw) {
    file.type = wanted;
    if (file_bytes % wanted.bytes != 0)
      refuse_file(path, fmt::format("has {} bytes, which is no multiple of an element's {}", file_bytes, wanted.bytes));
    file.size = file.shape[0] = file_bytes / wanted.bytes;
  } else if (format == file_format::npy) {
    read_npy_header(path, begin, file);
    if (!is_possible(file.size, file.type.bytes)) refuse_file(path, "announces more elements than a file can hold");
  } else {
    read_shoal_header(path, begin, file);
  }
  if (format != file_format::shoal) file.block_elements = block_elements_of(file.type.bytes);
  if (file_bytes < file.file_bytes())
    refuse_file(path,
                fmt::format("is truncated: the header announces {} elements, which need a file of {} bytes; it has {}",
                            file.size, file.file_bytes(), file_bytes));
  if (file_bytes > file.file_bytes())
    refuse_file(path, fmt::format("has {} bytes; with the {} elements that the header announces it would have {}",
                                  file_bytes, file.size, file.file_bytes()));
  return file;
}

}  // namespace shoal::files

namespace shoal {

std::string file_type::name() const { return fmt::format("{}{}", kind, bytes); }

}  // namespace shoal
