// SPDX-License-Identifier: Apache-2.0
// An empty folder for a test, removed with all that is in it.
// Who may call: tests, from any thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace shoal::test {

class folder {
public:
  folder() {
    std::string name = std::filesystem::temp_directory_path() / "shoal-files-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

private:
  std::string path_;
};

}  // namespace shoal::test
