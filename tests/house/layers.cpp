// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "checks.hpp"

namespace shoal::house {
namespace {

constexpr std::string_view k_umbrella = "shoal/shoal.hpp";  // includes all public headers; for users only
constexpr std::string_view k_public_root = "include/";
constexpr std::string_view k_top = "runtime";

struct layer_map {
  std::map<std::string, int, std::less<>> number;          // folder -> layer
  std::map<std::string, std::string, std::less<>> header;  // include/PATH -> folder
};

std::string at(const source_file& file, int line) { return file.path + ":" + std::to_string(line) + ": "; }

layer_map read_layers(const tree& t, findings& found) {
  layer_map map;
  const source_file* file = t.find("layers.txt");
  if (file == nullptr) {
    found.failures.push_back("layers.txt: is missing");
    return map;
  }
  for (std::size_t i = 0; i < file->lines.size(); ++i) {
    std::istringstream words(file->lines[i].substr(0, file->lines[i].find('#')));
    std::string first;
    std::string second;
    std::string more;
    if (!(words >> first)) continue;
    const std::string place = at(*file, static_cast<int>(i) + 1);
    if (!(words >> second) || words >> more) {
      found.failures.push_back(place + "expected a folder and its layer, or a public header and its folder");
    } else if (first.starts_with("include/")) {
      if (!map.header.emplace(first, second).second) found.failures.push_back(place + first + " is listed twice");
      if (t.find(first) == nullptr) found.failures.push_back(place + "there is no " + first);
    } else {
      int layer = 0;
      const auto [end, failure] = std::from_chars(second.data(), second.data() + second.size(), layer);
      if (failure != std::errc{} || end != second.data() + second.size()) {
        found.failures.push_back(place + second + " is not a layer");
      }
      if (!map.number.emplace(first, layer).second) found.failures.push_back(place + first + " is listed twice");
    }
  }
  for (const auto& [header, folder] : map.header) {
    if (!map.number.contains(folder))
      found.failures.push_back("layers.txt: " + header + " counts as " + folder + ", which is no folder");
  }
  return map;
}

// The folder to which a file of src/ or include/ counts; empty, with a finding, if there is none.
std::string folder_of(const source_file& file, const layer_map& map, findings& found) {
  if (file.under("src")) {
    const auto end = file.path.find('/', 4);
    const std::string folder = end == std::string::npos ? "" : file.path.substr(4, end - 4);
    if (folder.empty()) {
      found.failures.push_back(file.path + ": lies in src/ itself; it belongs in a folder");
    } else if (!map.number.contains(folder)) {
      found.failures.push_back(file.path + ": the folder " + folder + " is not in layers.txt");
    } else {
      return folder;
    }
    return "";
  }
  const auto place = map.header.find(file.path);
  if (place == map.header.end()) {
    found.failures.push_back(file.path + ": is not in layers.txt; add a line `" + file.path + " FOLDER`");
    return "";
  }
  return map.number.contains(place->second) ? place->second : "";
}

void judge(const source_file& file, const std::string& own, const include& line, const tree& t, const layer_map& map,
           findings& found) {
  const std::string place = at(file, line.line);
  const std::string public_path = std::string(k_public_root) + line.path;
  std::string target;
  if (const auto listed = map.header.find(public_path); listed != map.header.end()) {
    target = listed->second;
  } else if (line.path == k_umbrella) {
    found.failures.push_back(place + "includes " + line.path + ", which is for users only; include what is needed");
    return;
  } else if (t.find(public_path) != nullptr) {
    return;  // the header itself is reported as missing from layers.txt
  } else if (!line.quoted) {
    if (line.path.starts_with("shoal/")) found.failures.push_back(place + "there is no public header " + line.path);
    return;
  } else if (!file.under("src")) {
    if (t.find(file.folder() + "/" + line.path) != nullptr) return;  // a table of its own
    found.failures.push_back(place + "a public header includes \"" + line.path + "\", which is not public");
    return;
  } else {
    const auto slash = line.path.find('/');
    target = slash == std::string::npos ? "" : line.path.substr(0, slash);
    if (!map.number.contains(target)) {
      found.failures.push_back(place + "\"" + line.path + "\" does not begin with a folder of layers.txt");
      return;
    }
    if (t.find("src/" + line.path) == nullptr) {
      found.failures.push_back(place + "there is no src/" + line.path);
      return;
    }
  }
  if (target == own) return;
  const auto mine = map.number.find(own);
  const auto theirs = map.number.find(target);
  if (mine == map.number.end() || theirs == map.number.end()) return;  // reported by the reader of layers.txt
  if (target == k_top) {
    found.failures.push_back(place + own + " includes " + line.path + ", but nothing includes " + target);
  } else if (theirs->second >= mine->second) {
    found.failures.push_back(place + own + " (layer " + std::to_string(mine->second) + ") includes " + line.path +
                             " of " + target + " (layer " + std::to_string(theirs->second) + ")");
  }
}

}  // namespace

findings check_layers(const tree& t) {
  findings found;
  const layer_map map = read_layers(t, found);
  for (const source_file& file : t.files()) {
    if (!file.has_suffix({".hpp", ".cpp", ".h", ".c"})) continue;
    if (!file.under("src") && !file.under("include")) continue;
    if (file.path == std::string(k_public_root) + std::string(k_umbrella)) continue;
    const std::string own = folder_of(file, map, found);
    if (own.empty()) continue;
    for (const include& line : includes_of(file)) judge(file, own, line, t, map, found);
  }
  return found;
}

}  // namespace shoal::house
