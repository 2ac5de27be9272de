// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/pipeline/kernel.hpp"

using namespace problems::pipeline;

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([](const problem& p) {
    std::uint64_t checksum = 0;
    for (std::uint64_t i = 0; i < p.items; ++i) take(checksum, computed(i, p.rounds));
    return checksum;
  });
  return m.finish();
}
