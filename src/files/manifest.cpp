// SPDX-License-Identifier: Apache-2.0
#include "files/manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "files/array_file.hpp"

namespace shoal::files {
namespace {

constexpr std::string_view k_first_line = "shoal checkpoint 1";

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// Takes lines and words off the text, and names the line where it stops.
class line_reader {
public:
  line_reader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  bool at_end() const noexcept { return text_.empty(); }
  /// The first word of the next line.
  std::string_view next() {
    const std::size_t end = text_.find('\n');
    ++number_;
    if (end == text_.npos) refuse("is cut off");
    line_ = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return word();
  }
  std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view found = line_.substr(0, end);
    line_.remove_prefix(std::min(end + 1, line_.size()));
    if (found.empty()) refuse("lacks a word");
    return found;
  }
  void end_of_line() {
    if (!line_.empty()) refuse("has more words than are known");
  }
  template <class Number>
  Number number(std::string_view text, int base = 10) {
    Number n{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n, base);
    if (failure != std::errc{} || end != text.data() + text.size()) refuse("has a word that should be a number");
    return n;
  }
  template <class Number>
  Number number() {
    return number<Number>(word());
  }
  std::string name() {
    const std::string_view text = word();
    if (!is_checkpoint_name(text)) refuse("has a name that cannot be one");
    if (!names_.emplace(text).second) refuse("has a name that an earlier line has");
    return std::string(text);
  }
  file_type type() {
    const std::string_view text = word();
    if (std::string_view("iufbV").find(text.front()) == std::string_view::npos) refuse("has an unknown type");
    const file_type type{text.front(), number<std::uint32_t>(text.substr(1))};
    if (type.bytes == 0) refuse("has a type without bytes");
    return type;
  }
  [[noreturn]] void refuse(const char* what) const {
    refuse_file(path_, fmt::format("is corrupt: line {} {}", number_, what));
  }

private:
  const std::string& path_;
  std::string_view text_;
  std::string_view line_;
  std::size_t number_ = 0;
  std::set<std::string, std::less<>> names_;
};

saved_array read_array(line_reader& in) {
  saved_array a;
  a.name = in.name();
  a.type = in.type();
  a.size = in.number<std::uint64_t>();
  a.file_id = in.number<std::uint64_t>(in.word(), 16);
  std::string_view shape = in.word();
  std::uint64_t product = 1;
  while (!shape.empty()) {
    const std::size_t end = std::min(shape.find('x'), shape.size());
    const auto extent = in.number<std::uint64_t>(shape.substr(0, end));
    if (extent != 0 && product > std::numeric_limits<std::uint64_t>::max() / extent) in.refuse("has too large a shape");
    product *= extent;
    a.shape.push_back(extent);
    if (end + 1 == shape.size()) in.refuse("has a shape that ends early");
    shape.remove_prefix(std::min(end + 1, shape.size()));
  }
  if (a.shape.size() > k_most_dimensions) in.refuse("has too many dimensions");
  if (product != a.size) in.refuse("has a shape of another number of elements");
  return a;
}

saved_value read_value(line_reader& in) {
  saved_value v;
  v.name = in.name();
  v.type = in.type();
  const std::string_view hex = in.word();
  if (v.type.bytes > k_most_value_bytes || hex.size() != 2 * std::size_t{v.type.bytes})
    in.refuse("has a value of another size than its type");
  for (std::size_t i = 0; i < hex.size(); i += 2)
    v.bytes += static_cast<char>(in.number<std::uint8_t>(hex.substr(i, 2), 16));
  return v;
}

}  // namespace

bool is_checkpoint_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= k_most_name_bytes && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.';
         });
}

std::string describe_shape(const std::vector<std::uint64_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::string checksum_line(std::string_view lines) {
  return fmt::format("checksum {:016x}\n", XXH3_64bits(lines.data(), lines.size()));
}

std::string text_of(const manifest& m) {
  std::string text = fmt::format("{}\nnumber {}\nnodes {}\n", k_first_line, m.number, m.nodes);
  for (const saved_array& a : m.arrays)
    text +=
        fmt::format("array {} {} {} {:016x} {}\n", a.name, a.type.name(), a.size, a.file_id, describe_shape(a.shape));
  for (const saved_value& v : m.values) text += fmt::format("value {} {} {}\n", v.name, v.type.name(), hex_of(v.bytes));
  return text + checksum_line(text);
}

manifest read_manifest(const std::string& path, std::string_view text) {
  if (!text.starts_with(std::string(k_first_line) + "\n"))
    refuse_file(path, text.starts_with("shoal checkpoint ")
                          ? "has a version of the format that is not known"
                          : "is not the manifest of a checkpoint: it begins otherwise");
  const std::size_t last = text.rfind("\nchecksum ");
  if (last == text.npos || text.substr(last + 1) != checksum_line(text.substr(0, last + 1)))
    refuse_file(path, fmt::format("is corrupt or truncated ({} bytes): its checksum differs", text.size()));
  line_reader in(path, text.substr(0, last + 1));
  manifest m;
  in.next();  // the first line, which is right
  while (!in.at_end()) {
    const std::string_view kind = in.next();
    if (kind == "number")
      m.number = in.number<std::uint64_t>();
    else if (kind == "nodes")
      m.nodes = in.number<std::uint32_t>();
    else if (kind == "array")
      m.arrays.push_back(read_array(in));
    else if (kind == "value")
      m.values.push_back(read_value(in));
    else
      in.refuse("begins with an unknown word");
    in.end_of_line();
  }
  if (m.number == 0) refuse_file(path, "is corrupt: it has no number");
  return m;
}

}  // namespace shoal::files
