// SPDX-License-Identifier: Apache-2.0
#include "bench/benchmarks.hpp"

#include "bench/micro/access.hpp"
#include "bench/micro/limits.hpp"

namespace shoal::bench {
namespace {

constexpr subcommand k_benchmarks[] = {
    {"limits", "what memory and cores allow here: plain loops without the runtime",
     "shoal bench limits --repeat 3 --json limits.json", declare_limits},
    {"access", "element operations on a global array",
     "shoal bench access -n 2 -w 1 --op add --mode async --direct off", declare_access},
};

}  // namespace

std::span<const subcommand> benchmarks() { return k_benchmarks; }

}  // namespace shoal::bench
