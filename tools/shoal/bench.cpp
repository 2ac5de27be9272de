// SPDX-License-Identifier: Apache-2.0
// `shoal bench`: lists the benchmarks, or runs one, or one over a range (curve.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "bench/benchmarks.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

constexpr subcommand k_drawing[] = {
    {"curve", "any benchmark or kernel over a range of its options: table and picture",
     "shoal bench curve barrier --over nodes=2:8:x2 --picture barrier.svg\n"
     "  shoal bench curve access --over nodes=2,4 --over workers=1,2 -- --op add --direct off",
     declare_curve},
};

void list_benchmarks(std::FILE* out) {
  std::size_t width = 0;
  for (const subcommand& one : bench::benchmarks()) width = std::max(width, std::strlen(one.name));
  for (const auto table : {bench::benchmarks(), std::span<const subcommand>(k_drawing)})
    for (const subcommand& one : table) fmt::print(out, "{:<{}}  {}\n", one.name, width, one.summary);
}

}  // namespace

subcommand_body declare_bench(CLI::App& app) {
  auto list = std::make_shared<bool>(false);
  app.add_flag("--list", *list, "list the benchmarks and exit");
  offered all = offer(app, bench::benchmarks());
  for (auto& one : offer(app, k_drawing)) all.push_back(std::move(one));
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
