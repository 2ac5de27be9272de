// SPDX-License-Identifier: Apache-2.0
// The functions of shoal/files.hpp.
#include <fmt/format.h>

#include <vector>

#include "files/transfer.hpp"
#include "machine/file.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"
#include "shoal/files.hpp"

namespace shoal {
namespace {

using files::array_file;

array_file open_with_type(const std::string& path, file_type type, file_format format) {
  const array_file file = files::open_file(path, type, format);
  if (file.type != type)
    throw error(errc::mismatch,
                fmt::format("{} has elements of type {}, and the array {}; load it into an array of that "
                            "type",
                            path, file.type.name(), type.name()));
  return file;
}

// Keeps other saves to that path off until it is closed. A save that ends meanwhile renames the file which this one has
// opened; then another one is made.
machine::file hold_unfinished(const std::string& path, const std::string& unfinished) {
  for (;;) {
    machine::file held(unfinished, machine::file::purpose::make);
    if (!held.try_lock())
      throw error(errc::exhausted, fmt::format("{}: another task or job is saving to this path; wait for it, or choose "
                                               "another path",
                                               path));
    if (held.is_named()) return held;
  }
}

}  // namespace

namespace detail {

void save_array(const std::string& given, const array_layout& layout, file_type type, const save_options& options) {
  const std::string path = machine::absolute_path(given);
  const files::part p{layout, files::plan_file(path, type, layout.size, options)};
  const std::string unfinished = path + ".tmp";
  machine::file held;
  blocking([&] { held = hold_unfinished(path, unfinished); });
  try {
    files::write_file(unfinished, p, options.sync);
    blocking([&] {
      machine::rename_file(unfinished, path);
      if (options.sync) machine::sync_folder(machine::folder_of(path));
    });
  } catch (...) {
    blocking([&]() noexcept {
      try {
        machine::remove_file(unfinished);
      } catch (const error&) {
        // It stays; the next save() replaces it.
      }
    });
    throw;
  }
}

std::uint64_t elements_in(const std::string& path, file_type type, file_format format) {
  return open_with_type(machine::absolute_path(path), type, format).size;
}

void load_array(const std::string& given, const array_layout& layout, file_type type, file_format format) {
  const std::string path = machine::absolute_path(given);
  const array_file file = open_with_type(path, type, format);
  if (file.size != layout.size)
    throw error(errc::mismatch, fmt::format("{} has {} elements, and the array {}; load it into an array of that size",
                                            path, file.size, layout.size));
  files::read_file(path, {layout, file});
}

}  // namespace detail

file_info describe_file(const std::string& given, file_format format) {
  const array_file file = files::open_file(machine::absolute_path(given), {'V', 1}, format);
  return {file.format, file.type, file.size, {file.extents().begin(), file.extents().end()}};
}

}  // namespace shoal
