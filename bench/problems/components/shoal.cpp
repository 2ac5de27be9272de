// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/components/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "examples/global/components.hpp"

int main(int argc, char** argv) {
  using namespace problems::components;
  problems::measurement<problem> m(argc, argv);
  const auto main_task = [&m] {
    const problem& given = m.problem();
    const auto g = shoal::global_graph<>::build(given.vertices, given.edges);
    const shoal::global_array<std::uint32_t> labels(given.vertices, shoal::like(g->degrees()));
    const shoal::global_array<std::uint32_t> passed(given.vertices, shoal::like(g->degrees()));
    m.run([&](problem&) {
      examples::find_components(g, labels, passed);
      std::vector<std::uint32_t> result(labels.size());
      labels->get(0, std::span(result));
      return result;
    });
  };
  const int status = shoal::run(main_task, {{{"workers", std::to_string(m.workers())}}});
  return status != 0 ? status : m.finish();
}
