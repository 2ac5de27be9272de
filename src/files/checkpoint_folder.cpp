// SPDX-License-Identifier: Apache-2.0
#include "files/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include "files/array_file.hpp"
#include "shoal/error.hpp"

namespace shoal::files {
namespace {

constexpr std::string_view k_manifest = ".manifest";
constexpr std::string_view k_unfinished = ".manifest.tmp";

// "7" with the end "" is 7; "7.manifest" with the end ".manifest" too.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view end) noexcept {
  if (!name.ends_with(end)) return std::nullopt;
  name.remove_suffix(end.size());
  std::uint64_t n = 0;
  const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (failure != std::errc{} || stop != name.data() + name.size() || n == 0) return std::nullopt;
  return n;
}

}  // namespace

std::string checkpoint_folder::folder_path(std::uint64_t number) const { return fmt::format("{}/{}", path_, number); }
std::string checkpoint_folder::array_path(std::uint64_t number, const std::string& name) const {
  return fmt::format("{}/{}/{}.shoal", path_, number, name);
}
std::string checkpoint_folder::manifest_path(std::uint64_t number) const { return folder_path(number) + ".manifest"; }

void checkpoint_folder::lock(bool sync) {
  if (!lock_.path().empty()) return;
  machine::make_folder(path_);
  machine::file lock(path_ + "/lock", machine::file::purpose::make);
  if (!lock.try_lock())
    throw error(errc::exhausted, path_ +
                                     ": another checkpoint object or another job uses this folder; end it, or choose "
                                     "another folder");
  if (sync) machine::sync_folder(machine::folder_of(path_));
  lock_ = std::move(lock);
}

std::vector<std::uint64_t> checkpoint_folder::whole() const {
  std::vector<std::uint64_t> found;
  for (const std::string& name : machine::names_in(path_))
    if (const auto n = number_in(name, k_manifest)) found.push_back(*n);
  std::ranges::sort(found, std::greater<>());
  return found;
}

manifest checkpoint_folder::read(std::uint64_t number) const {
  const std::string path = manifest_path(number);
  const machine::file from(path, machine::file::purpose::read);
  const std::uint64_t bytes = from.size_bytes();
  if (bytes > k_most_manifest_bytes) refuse_file(path, "is larger than any manifest");
  std::string text(bytes, '\0');
  text.resize(from.read_at(std::as_writable_bytes(std::span{text}), 0));
  manifest m = read_manifest(path, text);
  if (m.number != number) refuse_file(path, fmt::format("is that of checkpoint {}; was it renamed?", m.number));
  return m;
}

// Numbers grow: what a process that is about to end still writes is of another number.
std::uint64_t checkpoint_folder::begin() {
  const std::vector<std::uint64_t> kept = whole();
  std::uint64_t last = kept.empty() ? 0 : kept.front();
  for (const std::string& name : machine::names_in(path_)) {
    const auto folder = number_in(name, ""), unfinished = number_in(name, k_unfinished);
    if (!folder && !unfinished) continue;
    last = std::max(last, folder.value_or(unfinished.value_or(0)));
    if (unfinished)
      machine::remove_file(path_ + "/" + name);
    else if (std::ranges::find(kept, *folder) == kept.end())
      machine::remove_folder(path_ + "/" + name);
  }
  machine::make_folder(folder_path(last + 1));
  return last + 1;
}

void checkpoint_folder::commit(const manifest& m, bool sync) {
  if (sync) {  // the names of the arrays, before the manifest's
    machine::sync_folder(folder_path(m.number));
    machine::sync_folder(path_);
  }
  const std::string path = manifest_path(m.number), unfinished = path + ".tmp";
  const std::string text = text_of(m);
  {
    machine::file to(unfinished, machine::file::purpose::replace);
    to.resize(text.size());
    to.write_at(std::as_bytes(std::span{text}), 0);
    if (sync) to.sync();
    to.close();
  }
  machine::rename_file(unfinished, path);
  if (sync) machine::sync_folder(path_);
}

// The manifest goes first: without it the rest is no checkpoint.
void checkpoint_folder::remove(std::uint64_t number, bool sync) {
  machine::remove_file(manifest_path(number) + ".tmp");
  if (machine::remove_file(manifest_path(number)) && sync) machine::sync_folder(path_);
  machine::remove_folder(folder_path(number));
}

void checkpoint_folder::remove_old(unsigned keep, bool sync) {
  const std::vector<std::uint64_t> found = whole();
  for (std::size_t i = found.size(); i > std::max(keep, 1U); --i) remove(found[i - 1], sync);
}

}  // namespace shoal::files
