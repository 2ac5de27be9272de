// SPDX-License-Identifier: Apache-2.0
// The source tree to check, read once: the lines of every text file, with its path relative to the root. Files of
// builds, editors and version control are ignored. Test: house_test.cpp, which checks small trees with one breach each.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::house {

struct source_file {
  std::string path;  // "src/sched/worker.hpp"
  std::vector<std::string> lines;

  bool under(std::string_view folder) const;
  bool has_suffix(std::initializer_list<std::string_view> suffixes) const;
  std::string name() const;    // "worker.hpp"
  std::string stem() const;    // "worker"
  std::string folder() const;  // "src/sched"
};

struct include {
  std::string path;
  bool quoted;
  int line;
};

/// The #include lines of a file; those in block comments count, too.
std::vector<include> includes_of(const source_file& file);

class tree {
public:
  explicit tree(const std::filesystem::path& root);

  const std::vector<source_file>& files() const { return files_; }
  const source_file* find(std::string_view path) const;

private:
  std::vector<source_file> files_;  // sorted by path
};

/// The result of a check: failures cause exit status 1, remarks are only printed.
struct findings {
  std::vector<std::string> failures;
  std::vector<std::string> remarks;
};

}  // namespace shoal::house
