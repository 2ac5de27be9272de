// SPDX-License-Identifier: Apache-2.0
// house_check ROOT [CHECK...]: checks a source tree; without names it runs all checks. Exit status 1 if a rule is
// broken, 2 for wrong usage.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "checks.hpp"

using namespace shoal::house;

int main(int argc, char** argv) try {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs("usage: house_check ROOT [layers|doors|waits|processors|length|readme|spdx|paths ...]\n", stderr);
    return 2;
  }
  const std::vector<std::string_view> wanted(arguments.begin() + 1, arguments.end());
  for (const std::string_view name : wanted) {
    if (std::ranges::count(all_checks(), name, &check::name) == 0) {
      std::fprintf(stderr, "house_check: there is no check '%.*s'\n", static_cast<int>(name.size()), name.data());
      return 2;
    }
  }
  const tree t{std::filesystem::path(arguments[0])};
  if (t.files().empty()) {
    std::fprintf(stderr, "house_check: there are no sources in %s\n", argv[1]);
    return 2;
  }
  std::size_t failures = 0;
  for (const check& c : all_checks()) {
    if (!wanted.empty() && std::ranges::find(wanted, c.name) == wanted.end()) continue;
    const findings found = c.run(t);
    for (const std::string& line : found.remarks) std::printf("remark: %s\n", line.c_str());
    for (const std::string& line : found.failures) std::printf("%s\n", line.c_str());
    std::printf("%.*s: %zu files, %zu breaches\n", static_cast<int>(c.name.size()), c.name.data(), t.files().size(),
                found.failures.size());
    failures += found.failures.size();
  }
  return failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "house_check: %s\n", e.what());
  return 2;
}
