// SPDX-License-Identifier: Apache-2.0
// The tables of lines in docs/kernels.md and docs/examples.md are those of the sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string k_root = SHOAL_SOURCE_DIR;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(k_root + "/" + path);
  EXPECT_TRUE(in.is_open()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_code(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at != std::string::npos && line.compare(at, 2, "//") != 0;
}

/// Lines of code of the function in the header: from the line that names it to the first that ends it.
int lines_of_function(const std::string& header, const std::string& form) {
  int count = 0;
  for (const std::string& line : lines_of(header)) {
    if (count == 0 && (!line.starts_with("inline ") || line.find(" " + form + "(") == std::string::npos)) continue;
    if (is_code(line)) ++count;
    if (line == "}" || (count == 1 && line.ends_with("}"))) return count;
  }
  return count;
}

/// Lines of code within the namespace of the file.
int lines_of_file(const std::string& path, const std::string& scope = "namespace shoal") {
  int count = 0;
  bool inside = false;
  for (const std::string& line : lines_of(path)) {
    if (line.starts_with("}  // " + scope)) return count;
    if (inside && is_code(line)) ++count;
    inside = inside || line.starts_with(scope);
  }
  return count;
}

std::string lines_of_form(const std::string& kernel, const std::string& form) {
  const std::string folder = "kernels/" + kernel + "/";
  const bool own = std::filesystem::exists(k_root + "/" + folder + form + ".cpp");
  return std::to_string(own ? lines_of_file(folder + form + ".cpp")
                            : lines_of_function(folder + kernel + ".hpp", form));
}

TEST(kernel_lines, are_those_of_the_sources) {
  int kernels = 0;
  bool inside = false;
  for (const std::string& line : lines_of("docs/kernels.md")) {
    inside = inside ? line.starts_with("|") : line.starts_with("| kernel | simple | fast |");
    if (!inside || line.starts_with("| kernel") || line.starts_with("| ---")) continue;
    std::istringstream cells(line);
    std::string bar;
    std::string kernel;
    std::string simple;
    std::string fast;
    cells >> bar >> kernel >> bar >> simple >> bar >> fast;
    EXPECT_EQ(simple, lines_of_form(kernel, "simple")) << "docs/kernels.md: simple form of " << kernel;
    EXPECT_EQ(fast, lines_of_form(kernel, "fast")) << "docs/kernels.md: fast form of " << kernel;
    ++kernels;
  }
  EXPECT_GE(kernels, 6);
}

TEST(example_lines, are_those_of_the_sources) {
  int examples = 0;
  for (const std::string& line : lines_of("docs/examples.md")) {
    std::istringstream cells(line);
    std::string bar;
    std::string name;
    std::string lines;
    cells >> bar >> name >> bar >> lines;
    const std::string path = "examples/global/" + name;
    if (bar != "|" || !name.ends_with(".hpp")) continue;
    EXPECT_EQ(lines, std::to_string(lines_of_file(path, "namespace examples"))) << "docs/examples.md: " << path;
    ++examples;
  }
  EXPECT_EQ(examples, 4);
}

}  // namespace
