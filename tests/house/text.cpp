// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include "checks.hpp"

namespace shoal::house {
namespace {

constexpr std::size_t k_long_lines = 400;
constexpr std::size_t k_too_long_lines = 700;
constexpr std::size_t k_readme_lines = 30;
constexpr std::size_t k_licence_lines = 3;  // the first line of a shell script is taken
constexpr std::string_view k_licence = "SPDX-License-Identifier: Apache-2.0";

bool is_code(const source_file& file) {
  return file.has_suffix({".hpp", ".cpp", ".h", ".c", ".sh"}) || file.path == "dev";
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether a text contains a word that is not a part of a longer one ("log" is not in "catalogue").
bool names(const source_file& text, std::string_view word) {
  for (const std::string& line : text.lines) {
    for (auto place = line.find(word); place != std::string::npos; place = line.find(word, place + 1)) {
      const auto end = place + word.size();
      if ((place == 0 || !is_word_char(line[place - 1])) && (end == line.size() || !is_word_char(line[end])))
        return true;
    }
  }
  return false;
}

// The README for a file: that of its folder, or of the nearest parent folder within src/.
const source_file* readme_for(const tree& t, std::string folder) {
  while (folder.size() > 3) {  // longer than "src"
    if (const source_file* readme = t.find(folder + "/README.md")) return readme;
    folder.resize(folder.rfind('/'));
  }
  return nullptr;
}

// Absolute paths of one machine. The names are assembled here so that this file passes its own check.
struct place_name {
  std::string text;
  bool documents_only;
};
const place_name k_places[] = {
    {std::string("/ho") + "me/", false},  {std::string("/ro") + "ot/", false}, {std::string("/wo") + "rk/", false},
    {std::string("/Us") + "ers/", false}, {std::string("/tm") + "p/", true},
};

// Whether the name begins an absolute path; it may also be the middle of a relative path or of an address.
bool begins_path(const std::string& line, std::size_t position) {
  if (position == 0) return true;
  const char before = line[position - 1];
  return !is_word_char(before) && before != '.' && before != '/' && before != '}' && before != '-';
}

}  // namespace

findings check_length(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    const std::size_t count = file.lines.size();
    if (!is_code(file) || count <= k_long_lines) continue;
    const std::string message = file.path + ": has " + std::to_string(count) + " lines; ";
    if (count > k_too_long_lines) {
      found.failures.push_back(message + "over " + std::to_string(k_too_long_lines) + " is a defect");
    } else {
      found.remarks.push_back(message + "over " + std::to_string(k_long_lines) + " wants splitting");
    }
  }
  return found;
}

findings check_readme(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    if (!file.under("src")) continue;
    if (file.name() == "README.md" && file.lines.size() > k_readme_lines) {
      found.failures.push_back(file.path + ": has " + std::to_string(file.lines.size()) + " lines, at most " +
                               std::to_string(k_readme_lines) + " are wanted");
    }
    if (!file.has_suffix({".hpp", ".cpp", ".h", ".c"})) continue;
    const source_file* readme = readme_for(t, file.folder());
    if (readme == nullptr) {
      found.failures.push_back(file.path + ": no README.md in its folder says what it is for");
    } else if (!names(*readme, file.stem())) {
      found.failures.push_back(readme->path + ": does not name " + file.name());
    }
  }
  return found;
}

findings check_spdx(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    const bool is_source = is_code(file) || file.has_suffix({".cmake", ".py"}) || file.name() == "CMakeLists.txt" ||
                           file.path == ".ci/run";
    if (!is_source) continue;
    const auto first = file.lines.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(k_licence_lines, file.lines.size()));
    if (std::none_of(first, last, [](const std::string& line) { return line.find(k_licence) != std::string::npos; })) {
      found.failures.push_back(file.path + ":1: lacks the line " + std::string(k_licence));
    }
  }
  return found;
}

findings check_paths(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    const bool is_document = file.has_suffix({".md", ".yml", ".cff", ".txt"}) && file.name() != "CMakeLists.txt";
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const place_name& place : k_places) {
        if (place.documents_only && !is_document) continue;
        const auto position = file.lines[i].find(place.text);
        if (position == std::string::npos || !begins_path(file.lines[i], position)) continue;
        found.failures.push_back(file.path + ":" + std::to_string(i + 1) + ": names a place of one machine, " +
                                 place.text);
      }
    }
  }
  return found;
}

std::span<const check> all_checks() {
  static constexpr check k_checks[] = {
      {"layers", check_layers}, {"doors", check_doors},   {"waits", check_waits}, {"processors", check_processors},
      {"length", check_length}, {"readme", check_readme}, {"spdx", check_spdx},   {"paths", check_paths},
  };
  return k_checks;
}

}  // namespace shoal::house
