// SPDX-License-Identifier: Apache-2.0
#include "runtime/gmt_storage.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "gmt/names.hpp"
#include "machine/file.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"
#include "shoal/files.hpp"

namespace shoal::runtime {
namespace {

// The small file beside the elements: "gmt 1 TYPE", TYPE an alloc_type_t.
constexpr std::string_view k_head = "gmt 1 ";

std::string elements(const std::string& path) { return path + ".shoal"; }
std::string note(const std::string& path) { return path + ".gmt"; }

[[noreturn]] void refuse_note(const std::string& path) {
  throw error(errc::bad_input, fmt::format("{} is not the description of an array of GMT; remove it, or choose another "
                                           "folder",
                                           note(path)));
}

int read_type(const std::string& path) {
  std::array<char, 64> text{};
  const machine::file file(note(path), machine::file::purpose::read);
  const std::size_t bytes = file.read_at(std::as_writable_bytes(std::span(text)), 0);
  const std::string_view read(text.data(), bytes);
  if (!read.starts_with(k_head) || !read.ends_with('\n')) refuse_note(path);
  int type = -1;
  const auto end = std::from_chars(read.data() + k_head.size(), read.data() + bytes - 1, type);
  if (end.ec != std::errc() || end.ptr != read.data() + bytes - 1 || type < 0 || type >= 64 || (type & 7) == 7)
    refuse_note(path);
  return type;
}

gmt::storage::kept_array describe(const std::string& path) {
  gmt::storage::kept_array k;
  try {
    blocking([&] { k.type = read_type(path); });
    const file_info info = describe_file(elements(path));
    k.size = info.size;
    k.element_bytes = info.type.bytes;
  } catch (const error& e) {
    if (e.code() != errc::not_found) throw;
    k.size = 0;
  }
  return k;
}

file_type type_of(const detail::array_layout& layout) noexcept { return {'V', layout.element_bytes}; }

void load(const std::string& path, const detail::array_layout& layout) {
  detail::load_array(elements(path), layout, type_of(layout), file_format::shoal);
}

void save(const std::string& path, const detail::array_layout& layout, int type) {
  blocking([&] {
    const std::string text = fmt::format("{}{}\n", k_head, type);
    const std::string unfinished = note(path) + ".tmp";
    machine::file file(unfinished, machine::file::purpose::replace);
    file.write_at(std::as_bytes(std::span(text)), 0);
    file.sync();
    file.close();
    machine::rename_file(unfinished, note(path));
  });
  detail::save_array(elements(path), layout, type_of(layout), {.format = file_format::shoal});
}

void remove(const std::string& path) {
  blocking([&] {
    machine::remove_file(elements(path));
    machine::remove_file(note(path));
  });
}

}  // namespace

void keep_gmt_arrays_in(const std::string& folder) {
  const std::string path = machine::absolute_path(folder);
  machine::make_folder(path);
  gmt::keep_arrays_in(path, {describe, load, save, remove});
}

}  // namespace shoal::runtime
