// SPDX-License-Identifier: Apache-2.0
#include "tree.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace shoal::house {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_skipped_folders[] = {".git", ".cache", "build", "site", "__pycache__"};
constexpr std::string_view k_text_names[] = {"dev",           "run",         "LICENSE",   "CMakeLists.txt",
                                             ".clang-format", ".clang-tidy", ".gitignore"};
constexpr std::string_view k_text_suffixes[] = {".hpp",  ".cpp",  ".h",    ".inc",   ".c",   ".sh",
                                                ".py",   ".md",   ".txt",  ".cmake", ".in",  ".yml",
                                                ".yaml", ".toml", ".json", ".cff",   ".supp"};

bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return std::ranges::find(k_skipped_folders, name) != std::end(k_skipped_folders) || name.starts_with("build-");
}

bool is_text(const std::string& name) {
  return std::ranges::find(k_text_names, name) != std::end(k_text_names) ||
         std::ranges::any_of(k_text_suffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

}  // namespace

bool source_file::under(std::string_view folder) const {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool source_file::has_suffix(std::initializer_list<std::string_view> suffixes) const {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

std::string source_file::name() const { return fs::path(path).filename().string(); }
std::string source_file::stem() const { return fs::path(path).stem().string(); }
std::string source_file::folder() const { return fs::path(path).parent_path().generic_string(); }

std::vector<include> includes_of(const source_file& file) {
  std::vector<include> found;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string_view rest = without_blanks(file.lines[i]);
    if (!rest.starts_with('#')) continue;
    rest = without_blanks(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = without_blanks(rest.substr(7));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '<')) continue;
    const bool quoted = rest.front() == '"';
    const auto end = rest.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    found.push_back({std::string(rest.substr(1, end - 1)), quoted, static_cast<int>(i) + 1});
  }
  return found;
}

tree::tree(const fs::path& root) {
  if (!fs::is_directory(root)) throw std::runtime_error(root.string() + " is not a directory");
  for (auto place = fs::recursive_directory_iterator(root); place != fs::recursive_directory_iterator(); ++place) {
    if (place->is_directory()) {
      if (is_skipped(place->path())) place.disable_recursion_pending();
    } else if (place->is_regular_file() && is_text(place->path().filename().string())) {
      files_.push_back({fs::relative(place->path(), root).generic_string(), lines_of(place->path())});
    }
  }
  std::ranges::sort(files_, {}, &source_file::path);
}

const source_file* tree::find(std::string_view path) const {
  const auto place = std::ranges::lower_bound(files_, path, {}, &source_file::path);
  return place != files_.end() && place->path == path ? &*place : nullptr;
}

}  // namespace shoal::house
