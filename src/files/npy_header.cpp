// SPDX-License-Identifier: Apache-2.0
#include "files/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace shoal::files {
namespace {

constexpr std::string_view k_npy_magic = "\x93NUMPY";
constexpr std::size_t k_prefix_bytes = k_npy_magic.size() + 2 + 2;  // and version, length
constexpr std::size_t k_alignment = 64;

// Reads a dictionary of strings, booleans and tuples of numbers.
class dictionary_reader {
public:
  dictionary_reader(const std::string& path, std::string_view text) : path_(path), left_(text) {}

  void read(array_file& file) {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = text();
      expect(':');
      if (key == "descr" && !has_type) {
        has_type = true;
        file.type = type(text());
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        fortran_ = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        shape(file);
      } else {
        refuse("its dictionary has an unexpected key");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (left_.find_first_not_of(" \n") != left_.npos) refuse("something follows its dictionary");
    if (!has_type || !has_order || !has_shape) refuse("its dictionary lacks descr, fortran_order or shape");
    if (fortran_ && file.dimensions > 1)
      refuse("its elements are in Fortran's order; save numpy.ascontiguousarray(a) instead");
  }

private:
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_file(path_, "NumPy's header is not usable: " + what);
  }

  void skip_spaces() noexcept {
    while (!left_.empty() && left_.front() == ' ') left_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("'{}' is missing", c));
  }
  std::string_view text() {
    skip_spaces();
    const char quote = left_.empty() ? '\0' : left_.front();
    if (quote != '\'' && quote != '"') refuse("a type of several fields, or no text where one is expected");
    const std::size_t end = left_.find(quote, 1);
    if (end == left_.npos) refuse("a text does not end");
    const std::string_view found = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return found;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (!left_.starts_with(name)) continue;
      left_.remove_prefix(name.size());
      return value;
    }
    refuse("fortran_order is neither True nor False");
  }
  std::uint64_t number(std::string_view& from) const {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(from.data(), from.data() + from.size(), value);
    if (failure != std::errc{}) refuse("a number is missing or too large");
    from.remove_prefix(static_cast<std::size_t>(end - from.data()));
    return value;
  }
  file_type type(std::string_view name) const {
    if (name.size() < 3) refuse("a type that is too short");
    const char order = name[0];
    const char kind = name[1];
    name.remove_prefix(2);
    const std::uint64_t bytes = number(name);
    if (!name.empty() || std::string_view("biufV").find(kind) == std::string_view::npos)
      refuse("it has a type other than integers, floats, bool and bytes");
    if (order == '>' && bytes > 1) refuse("it is big-endian; save a.astype(a.dtype.newbyteorder('<')) instead");
    if (std::string_view("<>|=").find(order) == std::string_view::npos || bytes == 0 || bytes > k_block_bytes)
      refuse("it has a type that does not exist");
    return {kind, static_cast<std::uint32_t>(bytes)};
  }
  void shape(array_file& file) {
    expect('(');
    file.dimensions = 0;
    file.size = 1;
    while (!accept(')')) {
      skip_spaces();
      if (file.dimensions == k_most_dimensions)
        refuse(fmt::format("it has more than {} dimensions", k_most_dimensions));
      const std::uint64_t extent = number(left_);
      if (extent != 0 && file.size > ~std::uint64_t{0} / extent) refuse("its shape is larger than any memory");
      file.shape[file.dimensions++] = extent;
      file.size *= extent;
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  const std::string& path_;
  std::string_view left_;
  bool fortran_ = false;
};

}  // namespace

std::string npy_header(file_type type, std::span<const std::uint64_t> shape) {
  std::string extents;
  for (const std::uint64_t extent : shape) extents += fmt::format("{},{}", extent, shape.size() == 1 ? "" : " ");
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 type.bytes == 1 || type.kind == 'V' ? '|' : '<', type.name(), extents);
  text.append(k_alignment - (k_prefix_bytes + text.size() + 1) % k_alignment, ' ');
  text += '\n';
  std::string header(k_npy_magic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void read_npy_header(const std::string& path, std::span<const std::byte> begin, array_file& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (!bytes.starts_with(k_npy_magic) || bytes.size() < k_prefix_bytes + 2)
    refuse_file(path, "is not a NumPy file (.npy): its first bytes are others; save it with numpy.save");
  const int version = static_cast<unsigned char>(bytes[k_npy_magic.size()]);
  if (version < 1 || version > 3)
    refuse_file(path, fmt::format("has version {} of NumPy's format; 1 to 3 are known", version));
  const std::size_t width = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[k_npy_magic.size() + 2 + i])) << (8 * i);
  const std::size_t start = k_npy_magic.size() + 2 + width;
  if (length > bytes.size() - start)
    refuse_file(path, "is truncated in its header, or the header is longer than 64 KiB");
  dictionary_reader(path, bytes.substr(start, length)).read(file);
  file.data_offset = start + length;
}

}  // namespace shoal::files
