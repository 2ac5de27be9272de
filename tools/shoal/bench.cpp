// SPDX-License-Identifier: Apache-2.0
// `shoal bench`: lists the benchmarks, or runs one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/benchmarks.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

void list_benchmarks(std::FILE* out) {
  std::size_t width = 0;
  for (const subcommand& one : bench::benchmarks()) width = std::max(width, std::strlen(one.name));
  for (const subcommand& one : bench::benchmarks()) fmt::print(out, "{:<{}}  {}\n", one.name, width, one.summary);
}

}  // namespace

subcommand_body declare_bench(CLI::App& app) {
  auto list = std::make_shared<bool>(false);
  app.add_flag("--list", *list, "list the benchmarks and exit");
  offered all = offer(app, bench::benchmarks());
  return [list, all] {
    if (*list) {
      list_benchmarks(stdout);
      return 0;
    }
    return run_chosen(all, [] {
      fmt::print(stderr, "shoal: name a benchmark; these exist:\n");
      list_benchmarks(stderr);
      return 2;
    });
  };
}

}  // namespace shoal::tools
